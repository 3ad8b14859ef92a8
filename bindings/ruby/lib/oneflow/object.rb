# frozen_string_literal: true

require "weakref"

# What the classes of records have in common.
module OneFlow
  # Returns a Proc that calls a method of an object of a subclass, without keeping the object alive.
  def self.overriding(object, method)
    target = WeakRef.new(object)
    lambda do |*arguments|
      target.__getobj__.__send__(method, *arguments)
    rescue WeakRef::RefError
      raise InvalidArgument, "#{method}: the object whose class overrides it does not exist any more"
    end
  end
  private_class_method :overriding

  # What objects with a state have in common: copies, Marshal and YAML make independent ones in the same state.
  module ObjectWithState
    def initialize_copy(original)
      marshal_load(original.marshal_dump)
    end

    # Returns the state, for Marshal.
    def marshal_dump = native_state

    # Sets the state, for Marshal. `initialize` of a subclass may require arguments.
    def marshal_load(state)
      native_initialize
      self.native_state = state
    end

    # Writes the object to a YAML coder.
    def encode_with(coder)
      coder["state"] = native_state
    end

    # Sets the state from a YAML coder.
    def init_with(coder)
      marshal_load(coder["state"])
    end

    # Returns `#<OneFlow::Generator seed 7, offset 100>`.
    def inspect
      "#<#{self.class} #{state_fields.zip(native_state).map { |name, value| "#{name} #{value}" }.join(", ")}>"
    rescue InvalidArgument # initialize has not been called
      Kernel.instance_method(:to_s).bind_call(self)
    end
    alias to_s inspect
  end
  private_constant :ObjectWithState

  # What objects have in common that are equal if a property is.
  module ObjectWithEquality
    # Returns whether another object is of the same class, and equal.
    def ==(other) = other.instance_of?(self.class) && equality == other.__send__(:equality)
    alias eql? ==

    # Returns the same number for equal objects.
    def hash = [self.class, equality].hash
  end
  private_constant :ObjectWithEquality

  # What objects that are maps have in common, beside `keys` and `[]`.
  module ObjectWithItems
    include Enumerable

    # Returns the number of items.
    def size = keys.size

    # Returns whether there is an item with this key.
    def include?(key) = keys.include?(key.to_s)

    # Yields each key with its item.
    def each
      return enum_for(:each) { size } unless block_given?

      keys.each { |key| yield [key, self[key]] }
      self
    end
  end
  private_constant :ObjectWithItems
end
