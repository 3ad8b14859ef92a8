# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "minitest/autorun"
require "commnet"
require "open3"
require "socket"
require "timeout"

# The base class of the tests: they have endpoints that are closed at their end.
class CommnetTest < Minitest::Test
  # Seconds after which a test gives up.
  PATIENCE = 30

  # The transports of endpoints within this process.
  TRANSPORTS = ENV.fetch("COMMNET_TEST_TRANSPORTS", "sockets")

  def setup
    @endpoints = []
  end

  def teardown
    @endpoints.each(&:close)
  end

  def open_endpoint(name, **options)
    options = { secret: "a secret", transports: TRANSPORTS }.merge(options)
    Commnet::Endpoint.new(name:, **options).tap { |endpoint| @endpoints << endpoint }
  end

  # Returns two endpoints, and the second as a peer of the first.
  def connected_pair(**options)
    a = open_endpoint("a", **options)
    b = open_endpoint("b", **options)
    [a, b, a.connect(b.address, timeout: PATIENCE)]
  end

  # Returns the Queue of the messages that an endpoint gets.
  def messages(endpoint, number = 1)
    Thread::Queue.new.tap { |queue| endpoint.on_message(number) { |message| queue << message } }
  end

  # Returns the next object of a Queue.
  def take(queue)
    Timeout.timeout(PATIENCE) { queue.pop }
  end

  # Waits until the block returns true.
  def eventually
    Timeout.timeout(PATIENCE) { sleep(0.005) until yield }
  end

  # Asserts that the block raises `error_class`, which is a Commnet::Error, with a matching message.
  def assert_error(error_class, text = //, &)
    error = assert_raises(error_class, &)
    assert_match text, error.message
    assert_kind_of Commnet::Error, error
    error
  end

  # Runs a program in another process, with the library loaded, and gives the block its input, output and identifier.
  # It is killed after the block.
  def run_process(program)
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    command = [RbConfig.ruby, *paths, "-r", "commnet", "-e", "$stdout.sync = true\n#{program}"]
    Open3.popen2(*command) do |input, output, thread|
      yield input, output, thread
    ensure
      kill(thread)
    end
  end

  # Returns whether the program, run in another process, succeeds, and what it prints.
  def run_alone(program)
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    command = ["timeout", "--signal=KILL", "60", RbConfig.ruby, *paths, "-r", "commnet", "-e", program]
    output, status = Open3.capture2e(*command)
    assert_predicate status, :success?, "#{status}: #{output}"
    output
  end

  private

  def kill(thread)
    Process.kill(:KILL, thread.pid) if thread.alive?
  rescue Errno::ESRCH
    nil # it has ended meanwhile
  end
end
