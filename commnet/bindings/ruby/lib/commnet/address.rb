# frozen_string_literal: true

module Commnet
  # Memory of another library, such as that of a tensor. Nothing checks that the address is right.
  #
  # Objects with a method `to_commnet_address` that returns an Address can be used wherever an Address can, and so can a
  # Fiddle::Pointer that knows its size.
  class Address
    attr_reader :address, :bytesize, :owner

    # Describes `bytesize` bytes at `address`, which live as long as `owner` does.
    def initialize(address, bytesize, owner = nil, readonly: false)
      raise WrongType, "address must be Integer, got #{address.class}" unless address.is_a?(Integer)
      raise WrongType, "bytesize must be Integer, got #{bytesize.class}" unless bytesize.is_a?(Integer)
      raise InvalidArgument, "bytesize must be at least 0, got #{bytesize}" if bytesize.negative?
      raise InvalidArgument, "address must be that of memory, got #{address}" unless address.positive? || bytesize.zero?

      @address = address
      @bytesize = bytesize
      @owner = owner
      @readonly = readonly
      freeze
    end

    # Returns the Address of a Fiddle::Pointer; nil for other objects.
    def self.from(object)
      return unless defined?(Fiddle::Pointer)

      case object
      when Fiddle::Pointer
        raise InvalidArgument, "a Fiddle::Pointer must know its size" if object.size.zero?

        new(object.to_i, object.size, object)
      end
    end

    # Returns whether peers and reads must not change the memory.
    def readonly? = @readonly

    def to_commnet_address = self

    def inspect = format("#<%<class>s 0x%<address>x, %<size>d bytes>", class: self.class, address:, size: bytesize)
  end
end
