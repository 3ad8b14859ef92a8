# frozen_string_literal: true

# Messages between processes, and reads and writes of each other's memory:
#
#     Commnet::Endpoint.open(name: "a", secret: "known to the job") do |endpoint|
#       peer = endpoint.connect(address)
#       peer.send_message("hello", handler: 1)
#       peer.read(token, size: 5).wait # => the bytes
#     end
#
# Errors include Commnet::Error.
module Commnet
end

require "commnet/version"
require "commnet/commnet"
require "commnet/address"
require "commnet/buffer"
require "commnet/guard"
require "commnet/dispatcher"
require "commnet/endpoint"
require "commnet/memory"
require "commnet/message"
require "commnet/operation"
require "commnet/peer"
require "commnet/token"
