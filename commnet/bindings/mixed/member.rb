# frozen_string_literal: true

# A rank of the random program of run.py: does what member.py does. Usage: ruby member.rb SEED ROUNDS

require "commnet"

TOKEN, DATA, ECHO, BACK, END_, BYE = *1..6 # numbers of handlers
CHANNELS = 3
PART = 20_000
SIZES = [0, 1, 100, 17_000, 70_000].freeze
PATIENCE = 60

# The checks of what arrives.
class Inbox
  attr_reader :tokens, :echoes
  attr_accessor :error

  def initialize(endpoint)
    @tokens = {}
    @received = Hash.new(0)
    @echoes = Hash.new { |all, where| all[where] = [] }
    @ends = @byes = 0
    endpoint.on_error { |error| @error = error }
    { TOKEN => :token, DATA => :data, ECHO => :echo, BACK => :back, END_ => :end_, BYE => :bye }.each do |number, name|
      endpoint.on_message(number) { |message| __send__(name, message, [message.peer.name, message.channel]) }
    end
  end

  def all_ended? = @ends == 2 * CHANNELS && @echoes.values.all?(&:empty?)
  def all_left? = @byes == 2

  private

  def token(message, where) = @tokens[where[0]] = Commnet::Token.new(message.data)

  def data(message, where)
    number, seed = message.data.unpack("L<C")
    raise "#{number} of #{where} came instead of #{@received[where]}" unless number == @received[where]
    raise "#{where} has other bytes" unless message.data.byteslice(5..) == content(seed, message.data.bytesize - 5)

    @received[where] += 1
  end

  def echo(message, _) = message.peer.send_message(message.data, handler: BACK, channel: message.channel)

  def back(message, where)
    raise "another one came back from #{where}" unless @echoes[where].shift == message.data
  end

  def end_(message, where)
    raise "messages of #{where} are missing" unless message.data.unpack1("L<") == @received[where]

    @ends += 1
  end

  def bye(_, _) = @byes += 1
end

# The random program.
class Member
  def initialize(endpoint, seed)
    @random = Random.new(seed)
    @inbox = Inbox.new(endpoint)
    @memory = endpoint.register(Commnet::Buffer.new(3 * PART), write: true) # each rank writes to its own part
    peers = endpoint.join
    @place = peers.index(nil) * PART
    @peers = peers.compact
    @peers.each { |peer| peer.send_message(@memory.token(write: true).to_s, handler: TOKEN) }
    wait_for { @inbox.tokens.size == 2 }
    @model = @peers.to_h { |peer| [peer, "\0".b * PART] }
    @sent = Hash.new(0)
  end

  def run(rounds)
    rounds.times { __send__(%i[write send_data echo].sample(random: @random), @peers.sample(random: @random)) }
    @peers.product([*0...CHANNELS]) do |peer, channel|
      peer.send_message([@sent[[peer, channel]]].pack("L<"), handler: END_, channel:)
    end
    wait_for { @inbox.all_ended? }
    @peers.each { |peer| peer.send_message("", handler: BYE) }
    wait_for { @inbox.all_left? }
  end

  private

  def write(peer)
    first = @random.rand(PART)
    data = content(@random.rand(256), @random.rand(PART - first))
    @model[peer][first, data.bytesize] = data
    token = @inbox.tokens[peer.name]
    peer.write(token, data, offset: @place + first).wait(timeout: PATIENCE)
    read = peer.read(token, offset: @place, size: PART).wait(timeout: PATIENCE)
    raise "the memory of #{peer.name} has other bytes" unless read == @model[peer]
  end

  def send_data(peer)
    where = [peer, @random.rand(CHANNELS)]
    seed = @random.rand(256)
    data = [@sent[where], seed].pack("L<C") + content(seed, SIZES.sample(random: @random))
    @sent[where] += 1
    peer.send_message(data, handler: DATA, channel: where[1])
  end

  def echo(peer)
    channel = @random.rand(CHANNELS)
    data = content(@random.rand(256), SIZES.sample(random: @random))
    @inbox.echoes[[peer.name, channel]] << data
    peer.send_message(data, handler: ECHO, channel:)
  end

  def wait_for
    limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    until yield
      raise @inbox.error if @inbox.error
      raise "a peer does not go on" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit

      sleep 0.001
    end
  end
end

def content(seed, size)
  period = Array.new(256) { |i| (seed + (7 * i)) & 255 }.pack("C*")
  (period * ((size / 256) + 1)).byteslice(0, size)
end

rounds = Integer(ARGV[1])
Commnet::Endpoint.open(name: "ruby", secret: "of the test", receive_window: 50_000) do |endpoint|
  Member.new(endpoint, Integer(ARGV[0])).run(rounds)
end
puts "ruby has done #{rounds} things"
