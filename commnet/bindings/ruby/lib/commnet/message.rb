# frozen_string_literal: true

module Commnet
  # A message that has arrived: `data` is a binary String, `peer` who has sent it, and `handler` and `channel` are
  # numbers that the sender has chosen.
  class Message
    def inspect = "#<#{self.class} #{data&.bytesize} bytes for #{handler} from #{peer.name}>"
  end
end
