# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__)) unless ENV["ONEFLOW_RUBY_INSTALLED"]
require "minitest/autorun"
require "oneflow"
require "open3"

# The base class of the tests of this front end.
class OneFlowTest < Minitest::Test
  # Asserts that nested Arrays are equal. Numbers must have the same class; Floats are compared to four decimal places,
  # because examples print no more.
  def assert_gives(expected, actual)
    plain = actual.is_a?(Array) ? actual.map(&:to_a) : actual.to_a
    assert same?(expected, plain), "expected #{expected}, got #{plain}"
  end

  # Asserts that the block raises `error_class`, which is a OneFlow::Error, with exactly the message `text`.
  def assert_error(error_class, text, &)
    error = assert_raises(error_class, &)
    assert_equal text, error.message
    assert_kind_of OneFlow::Error, error
  end

  def tensor(...) = OneFlow.tensor(...)

  # Runs the block while at most `bytes` more may be in use on each device than now. Work that allocates many times as
  # much shows that its results are released: a leak ends in OutOfMemory.
  def with_room(bytes, *devices)
    devices = [OneFlow.default_device] if devices.empty?
    GC.start
    devices.each { |device| OneFlow.set_memory_limit(OneFlow.memory_stats(device)[:in_use] + bytes, device) }
    yield
  ensure
    devices.each { |device| OneFlow.set_memory_limit(0, device) }
  end

  BUILD = File.expand_path(ENV.fetch("OF_BUILD", File.join(__dir__, "../../../build")))

  # Returns the path of a device plugin that the build compiles for tests.
  def plugin(name) = File.join(BUILD, "test_plugins/#{name}.so")

  # Runs a program in a separate process, whose environment may select other plugins, and returns the lines that it
  # prints. A program that hangs is killed.
  def run_alone(program, environment)
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    command = ["timeout", "--signal=KILL", "120", RbConfig.ruby, *paths, "-r", "oneflow", "-e", program]
    output, errors, status = Open3.capture3(environment, *command)
    assert_predicate status, :success?, "#{status}: #{errors}"
    output.lines(chomp: true)
  end

  private

  def same?(expected, actual)
    return false unless expected.instance_of?(actual.class)

    case expected
    when Array then expected.size == actual.size && expected.zip(actual).all? { |e, a| same?(e, a) }
    when Float then same_float?(expected, actual)
    else expected == actual
    end
  end

  def same_float?(expected, actual)
    return expected.nan? && actual.nan? if expected.nan? || actual.nan?

    expected == actual || (expected - actual).abs <= 6e-5 + (1e-5 * expected.abs)
  end
end
