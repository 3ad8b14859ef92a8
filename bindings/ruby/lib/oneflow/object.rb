# frozen_string_literal: true

module OneFlow
  # What objects with a state have in common: copies, Marshal and YAML make independent ones in the same state.
  module ObjectWithState
    def initialize_copy(original)
      marshal_load(original.marshal_dump)
    end

    # Returns the state, for Marshal.
    def marshal_dump = native_state

    # Sets the state, for Marshal.
    def marshal_load(state)
      initialize
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
    end
    alias to_s inspect
  end
  private_constant :ObjectWithState
end
