# frozen_string_literal: true

# Rank 2 of test_tensors.py: does what exchange.py does.

require "commnet"
require "json"
require "oneflow"

TOKEN = 1 # numbers of handlers
DONE = 2
PATIENCE = 60

def bytes_of(index, entry, salt)
  count = entry["shape"].inject(1, :*) * entry["bytes"]
  Array.new(count) { |i| ((i * i * 31) + (i * 7) + (index * 13) + (salt * 101) + (i >> 3)) & 255 }.pack("C*")
end

def tensor_of(bytes, entry) = OneFlow.from_binary(bytes, dtype: entry["dtype"], shape: entry["shape"])

def memory_of(tensor) = Commnet::Address.new(tensor.data_ptr, tensor.bytesize, tensor)

CASES = JSON.parse(ARGV[0])

# The part of rank 2.
class Exchange
  def initialize(endpoint)
    @endpoint = endpoint
    @tokens = {}
    @done = 0
    endpoint.on_message(TOKEN) do |message|
      @tokens[[message.peer.name, message.data.getbyte(0)]] = Commnet::Token.new(message.data.byteslice(1..))
    end
    endpoint.on_message(DONE) { @done += 1 }
    @peers = endpoint.join.compact
  end

  def run
    own = register
    wait_for { @tokens.size == 2 * CASES.size }
    @peers.each_with_index { |peer, rank| check_reads(peer, rank) }
    @peers.each { |peer| peer.send_message("", handler: DONE) }
    wait_for { @done >= 2 } # nobody reads any more
    write_to(@peers[0])
    wait_for { @done == 3 }
    CASES.each_with_index do |entry, index|
      check(own[index].object.owner, bytes_of(index, entry, 10), entry["dtype"])
    end
  end

  private

  def register
    CASES.each_with_index.map do |entry, index|
      memory = @endpoint.register(memory_of(tensor_of(bytes_of(index, entry, 2), entry)), write: true)
      text = [index].pack("C") + memory.token(write: true).to_s
      @peers.each { |peer| peer.send_message(text, handler: TOKEN) }
      memory
    end
  end

  def check_reads(peer, rank)
    CASES.each_with_index do |entry, index|
      bytes = peer.read(@tokens[[peer.name, index]]).wait(timeout: PATIENCE)
      check(tensor_of(bytes, entry), bytes_of(index, entry, rank), "#{entry["dtype"]} of #{peer.name}")
    end
  end

  def write_to(peer)
    CASES.each_with_index do |entry, index|
      tensor = tensor_of(bytes_of(index, entry, 11), entry)
      peer.write(@tokens[[peer.name, index]], memory_of(tensor)).wait(timeout: PATIENCE)
    end
    peer.send_message("", handler: DONE)
  end

  def check(tensor, bytes, what)
    raise "#{what} is not right" unless tensor.to_binary == bytes
  end

  # Waits until a block returns true. Messages come meanwhile.
  def wait_for
    limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    until yield
      raise "a peer does not go on" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit

      sleep 0.001
    end
  end
end

Commnet::Endpoint.open(name: "ruby", secret: "of the test") { |endpoint| Exchange.new(endpoint).run }
puts "ruby is right"
