# frozen_string_literal: true

# The example of bindings/ruby/README.md: a message, and a read of the other endpoint's memory.
require "commnet"

Commnet::Endpoint.open(name: "b", secret: "of both") do |b|
  greetings = Thread::Queue.new
  b.on_message(7) { |message| greetings << message.data }
  memory = b.register(Commnet::Buffer.new("0123456789"), write: true)
  token = memory.token # 64 bytes, which b would send to a

  Commnet::Endpoint.open(name: "a", secret: "of both") do |a|
    peer = a.connect(b.address) # usually from another process
    peer.send_message("hello", handler: 7).wait
    copy = peer.read(token, offset: 2, size: 3).wait
    puts "#{greetings.pop}, #{copy}" # hello, 234
    raise "the copy is not right" unless copy == "234"
  end
end
