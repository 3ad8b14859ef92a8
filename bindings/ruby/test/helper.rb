# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__)) unless ENV["ONEFLOW_RUBY_INSTALLED"]
require "minitest/autorun"
require "oneflow"
require "open3"

# What the tests of this front end share.
class OneFlowTest < Minitest::Test
  # Compares nested arrays: classes of numbers must agree, Floats by four digits (examples print no more).
  def assert_gives(expected, actual)
    plain = actual.is_a?(Array) ? actual.map(&:to_a) : actual.to_a
    assert same?(expected, plain), "expected #{expected}, got #{plain}"
  end

  # The class and the whole text.
  def assert_error(error_class, text, &)
    error = assert_raises(error_class, &)
    assert_equal text, error.message
    assert_kind_of OneFlow::Error, error
  end

  def tensor(...) = OneFlow.tensor(...)

  BUILD = File.expand_path(ENV.fetch("OF_BUILD", File.join(__dir__, "../../../build")))

  # The file of a plugin that the tests' build makes.
  def plugin(name) = File.join(BUILD, "test_plugins/#{name}.so")

  # The lines that a program prints that runs in a process of its own, with other plugins; one that hangs is ended.
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
