# frozen_string_literal: true

# Workers fit a line to their own points: each reads the parameters from the memory of a server, and sends it gradients.
#
#     ruby parameter_server.rb [workers] [steps]

require "commnet"
require "securerandom"

GRADIENT = 1
WELCOME = 2
ADDED = 3
RATE = 0.05
SLOPE = 3.0
OFFSET = -1.0

# Holds the parameters [slope, offset] as two doubles, which workers read as they are, and adds gradients to them.
class Server
  def initialize(endpoint, workers)
    @memory = endpoint.register(Commnet::Buffer.new([0.0, 0.0].pack("dd")))
    @left = Thread::Queue.new
    @workers = workers
    endpoint.on_join { |peer| peer.send_message(@memory.token.to_s, handler: WELCOME) }
    endpoint.on_leave { @left << true }
    endpoint.on_message(GRADIENT) do |message|
      add(message.data.unpack("dd"))
      message.peer.send_message("", handler: ADDED)
    end
  end

  def parameters = @memory.object.to_s.unpack("dd")

  # Waits until all workers have left.
  def wait = @workers.times { @left.pop }

  private

  def add(gradient)
    @memory.object.replace(parameters.zip(gradient).map { |value, slope| value - (RATE * slope) }.pack("dd"))
  end
end

# Returns the gradient of the squared error at one point.
def gradient(slope, offset, random)
  x = random.rand(-1.0..1.0)
  error = (slope * x) + offset - ((SLOPE * x) + OFFSET)
  [2 * error * x, 2 * error]
end

def work(address, secret, number, steps)
  random = Random.new(number)
  Commnet::Endpoint.open(name: "worker #{number}", secret:) do |endpoint|
    tokens = Thread::Queue.new
    endpoint.on_message(WELCOME) { |message| tokens << Commnet::Token.new(message.data) }
    added = Thread::Queue.new
    endpoint.on_message(ADDED) { added << true }
    server = endpoint.connect(address)
    token = tokens.pop
    steps.times do
      parameters = server.read(token).wait.unpack("dd")
      server.send_message(gradient(*parameters, random).pack("dd"), handler: GRADIENT)
      added.pop # else the next read, which does not wait for the server, may be of parameters that are old
    end
  end
end

# Starts a worker, which gets the secret by its input: arguments can be seen by others.
def start_worker(address, secret, number, steps)
  paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
  command = [RbConfig.ruby, *paths, __FILE__, "worker", address, number.to_s, steps.to_s]
  IO.popen(command, "w").tap { |input| input.puts(secret.unpack1("H*")) }
end

def serve(workers, steps)
  secret = SecureRandom.bytes(32)
  Commnet::Endpoint.open(name: "server", secret:) do |endpoint|
    server = Server.new(endpoint, workers)
    children = Array.new(workers) { |number| start_worker(endpoint.address, secret, number, steps) }
    server.wait
    children.each(&:close)
    check(server.parameters)
  end
end

def check(parameters)
  puts "slope #{parameters[0].round(3)}, offset #{parameters[1].round(3)}"
  distance = parameters.zip([SLOPE, OFFSET]).map { |found, right| (found - right).abs }.max
  raise "the line should have slope #{SLOPE} and offset #{OFFSET}" if distance > 0.01
end

if ARGV[0] == "worker"
  work(ARGV[1], [$stdin.gets.chomp].pack("H*"), Integer(ARGV[2]), Integer(ARGV[3]))
else
  serve(Integer(ARGV.fetch(0, 3)), Integer(ARGV.fetch(1, 500)))
end
