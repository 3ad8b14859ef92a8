# frozen_string_literal: true

module Commnet
  # What names a memory, and allows to read or to write it. It is sent as its bytes.
  class Token
    # Creates the token of bytes that Token#to_s has returned.
    def initialize(bytes)
      raise WrongType, "bytes must be String, got #{bytes.class}" unless bytes.is_a?(String)
      raise InvalidArgument, "a token has #{BYTESIZE} bytes, got #{bytes.bytesize}" if bytes.bytesize != BYTESIZE

      @bytes = bytes.b.freeze
      freeze
    end

    # Returns the bytes.
    def to_s = @bytes

    def ==(other) = other.is_a?(Token) && to_s == other.to_s
    alias eql? ==

    def hash = @bytes.hash

    # Does not show the bytes, which are a secret.
    def inspect = "#<#{self.class} of #{size} bytes>"
  end
end
