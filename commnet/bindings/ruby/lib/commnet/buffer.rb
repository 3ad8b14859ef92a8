# frozen_string_literal: true

module Commnet
  # Memory of a fixed size that the garbage collector does not move, for registrations and as the target of reads.
  # `Buffer.new(size)` has zeros, `Buffer.new(string)` a copy of the bytes.
  class Buffer
    alias size bytesize

    # Returns a copy of all bytes.
    def to_s = get_bytes(0, bytesize)

    # Returns a byte as Integer for an index, or a binary String for a Range, or for an offset and a size.
    def [](offset, size = nil)
      return get_bytes(*span(offset)) if offset.is_a?(Range)

      size ? get_bytes(offset, size) : get_bytes(offset, 1).getbyte(0)
    end

    # Sets a byte, or the bytes from an offset on.
    def []=(offset, value)
      set_bytes(offset, value.is_a?(Integer) ? byte(value) : value)
    end

    # Replaces all bytes by those of a String of the same size.
    def replace(string)
      raise WrongType, "string must be String, got #{string.class}" unless string.is_a?(String)
      unless string.bytesize == bytesize
        raise InvalidArgument, "a buffer of #{bytesize} bytes cannot take #{string.bytesize}"
      end

      set_bytes(0, string)
      self
    end

    def inspect = "#<#{self.class} #{bytesize} bytes>"

    private

    def byte(value)
      raise InvalidArgument, "a byte must be from 0 to 255, got #{value}" unless value.between?(0, 255)

      value.chr
    end

    def span(range)
      first = range.begin || 0
      last = range.end || bytesize
      unless first.is_a?(Integer) && last.is_a?(Integer)
        raise WrongType, "range must have Integers at its ends, got #{range.inspect}"
      end

      count = last - first + (range.exclude_end? || range.end.nil? ? 0 : 1)
      [first, [count, 0].max]
    end
  end
end
