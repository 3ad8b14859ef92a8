# frozen_string_literal: true

# Two processes send each other a message, many times, and one prints how long a round trip takes.
#
#     ruby ping_pong.rb [rounds] [bytes]

require "commnet"
require "securerandom"

BALL = 1 # the number of a handler

# Sends back what arrives, until the other side has left.
def pong(address, secret)
  Commnet::Endpoint.open(name: "pong", secret:) do |endpoint|
    left = Thread::Queue.new
    endpoint.on_leave { left << true }
    endpoint.on_message(BALL) { |message| message.peer.send_message(message.data, handler: BALL) }
    endpoint.connect(address)
    left.pop
  end
end

def ping(rounds, bytes)
  secret = SecureRandom.bytes(32)
  Commnet::Endpoint.open(name: "ping", secret:) do |endpoint|
    joined = Thread::Queue.new
    endpoint.on_join { |peer| joined << peer }
    input = IO.popen([RbConfig.ruby, *$LOAD_PATH.flat_map { |path| ["-I", path] }, __FILE__, "pong"], "w")
    input.puts(endpoint.address, secret.unpack1("H*"))
    play(endpoint, joined.pop, rounds, "x" * bytes)
    endpoint.close
    input.close
    raise "the other process has failed" unless Process.last_status.success?
  end
end

def play(endpoint, peer, rounds, ball)
  caught = Thread::Queue.new
  endpoint.on_message(BALL) { |message| caught << message.data }
  begin_time = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  rounds.times do
    peer.send_message(ball, handler: BALL)
    raise "the ball has changed" unless caught.pop == ball
  end
  time = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - begin_time) / rounds
  puts format("%<rounds>d round trips of %<bytes>d bytes over %<transport>s: %<time>.1f µs each",
              rounds:, bytes: ball.bytesize, transport: peer.transport, time: time * 1e6)
end

if ARGV[0] == "pong"
  pong($stdin.gets.chomp, [$stdin.gets.chomp].pack("H*"))
else
  ping(Integer(ARGV.fetch(0, 1000)), Integer(ARGV.fetch(1, 8)))
end
