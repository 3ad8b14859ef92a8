# frozen_string_literal: true

module Commnet
  # Memory that peers may access by its tokens, until it is released or its endpoint is closed.
  class Memory
    READ = 1
    WRITE = 2

    # Returns a token that allows to read, if peers may read the memory, and with `write` also to write.
    def token(read: readable?, write: false)
      Token.new(token_bytes(Memory.rights(read:, write:)))
    end

    def inspect = "#<#{self.class} #{bytesize} bytes#{", released" unless registered?}>"

    # Returns the number that stands for rights.
    def self.rights(read:, write:)
      raise InvalidArgument, "memory without the right to read or to write it is of no use" unless read || write

      (read ? READ : 0) | (write ? WRITE : 0)
    end
  end
end
