# frozen_string_literal: true

module Commnet
  # Another endpoint. The methods that begin an operation return it at once. They all take a `queue`, and a `timeout` in
  # seconds after which the operation fails.
  class Peer
    # Sends data to a handler. Messages of one channel arrive in their order. The operation ends when the message is on
    # its way. A String may be changed at once; other objects only after the end.
    def send_message(data, handler:, channel: 0, queue: nil, timeout: nil)
      begin_send(data, handler, channel, queue, timeout)
    end

    # Reads from the memory of a token, `size` bytes or all from `offset` on. The value of the operation is a binary
    # String, or the object `into`, which gets the bytes and must not be used before.
    def read(token, size: nil, offset: 0, into: nil, queue: nil, timeout: nil)
      begin_read(token, size, offset, into, queue, timeout)
    end

    # Writes data to the memory of a token. The operation ends when the bytes are there.
    def write(token, data, offset: 0, queue: nil, timeout: nil)
      begin_write(token, data, offset, queue, timeout)
    end

    def inspect = "#<#{self.class} #{name}#{", not connected" unless connected?}>"
  end
end
