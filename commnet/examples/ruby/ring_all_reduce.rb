# frozen_string_literal: true

# Adds up an array over several processes, in a ring: each writes into the memory of the next one.
#
#     ruby ring_all_reduce.rb [processes] [elements]

require "commnet"
require "tmpdir"

TOKEN = 1 # numbers of handlers
ARRIVED = 2
TAKEN = 3
SECRET = "only for this example"

# One process of the ring. Elements are floats of 8 bytes.
class Ring
  def initialize(endpoint, rank, size, meeting)
    @inboxes = [TOKEN, ARRIVED, TAKEN].to_h { |number| [number, Thread::Queue.new] }
    @inboxes.each { |number, inbox| endpoint.on_message(number) { |message| inbox << message.data } }
    peers = endpoint.join(rank:, size:, meeting:)
    @endpoint = endpoint
    @rank = rank
    @size = size
    @next = peers[(rank + 1) % size]
    @previous = peers[(rank - 1) % size]
  end

  # Returns the sum of the arrays of all processes.
  def reduce(array)
    parts = array.each_slice((array.size / @size.to_f).ceil).to_a
    exchange_tokens(8 * parts[0].size)
    (2 * (@size - 1)).times { |turn| take(parts, turn) }
    parts.flatten
  end

  private

  # In the first round each part gathers its sum; in the second one the sums go around.
  def take(parts, turn)
    arrived = pass(parts[(@rank - turn) % @size])
    place = (@rank - turn - 1) % @size
    parts[place] = turn < @size - 1 ? parts[place].zip(arrived).map(&:sum) : arrived.first(parts[place].size)
  end

  def exchange_tokens(bytes)
    @room = Commnet::Buffer.new(bytes) # where the previous process writes
    memory = @endpoint.register(@room, read: false, write: true)
    @previous.send_message(memory.token(write: true).to_s, handler: TOKEN)
    @token = Commnet::Token.new(@inboxes[TOKEN].pop)
  end

  # Writes a part to the next process, and returns what the previous one has written.
  def pass(part)
    @next.write(@token, part.pack("d*")).wait
    @next.send_message("", handler: ARRIVED)
    @inboxes[ARRIVED].pop
    arrived = @room.to_s.unpack("d*")
    @previous.send_message("", handler: TAKEN)
    @inboxes[TAKEN].pop
    arrived
  end
end

def run(rank, size, elements, meeting)
  Commnet::Endpoint.open(name: "rank #{rank}", secret: SECRET) do |endpoint|
    sum = Ring.new(endpoint, rank, size, meeting).reduce(Array.new(elements, rank + 1.0))
    raise "the sum is not right" unless sum == [size * (size + 1) / 2.0] * elements

    puts "rank #{rank}: every element is #{sum[0]}"
  end
end

size = Integer(ARGV.fetch(0, 4))
elements = Integer(ARGV.fetch(1, 100_000))
Dir.mktmpdir do |folder|
  # Before there is an endpoint: it belongs to the process that has created it.
  ranks = Array.new(size) { |rank| fork { run(rank, size, elements, "file:#{folder}") } }
  raise "a process has failed" unless ranks.map { |rank| Process.wait2(rank).last.success? }.all?
end
