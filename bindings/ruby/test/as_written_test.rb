# frozen_string_literal: true

require_relative "helper"
require "json"

# Calls as people write them, which all languages make: Arrays for tensors, and the names of other libraries.
class AsWrittenTest < OneFlowTest
  CASES = JSON.parse(File.read(File.expand_path("../../../tests/as_written.json", __dir__)))
  SPACES = { "special" => OneFlow::Special, "nn.functional" => OneFlow::NN::Functional }.freeze

  CASES.each_with_index do |each, number|
    define_method("test_#{number}_#{each["call"].tr(".", "_")}") do
      space, _, name = each["call"].rpartition(".")
      owner = SPACES.fetch(space, OneFlow)
      found = owner.public_send(name, *each["args"], **(each["named"] || {}).transform_keys(&:to_sym))
      to_ruby = ->(value) { OneFlow::Tensor === value ? value.to_a : value }
      values = found.is_a?(Array) ? found.map(&to_ruby) : to_ruby.call(found)
      assert_close each["gives"], values
    end
  end

  def test_arrays_go_to_the_device_of_the_tensors
    x = OneFlow.ones(2, device: "far:1")
    [x + [1, 2], OneFlow.add([1, 2], x), x.mul([1.0, 2.0])].each { |result| assert_equal "far:1", result.device.to_s }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.add([1], 1, out: [2]) }
    assert_raises(OneFlow::TypeMismatch) { OneFlow::Optim.sgd!([[1.0]], [[1.0]], [], lr: 1.0) }
  end

  private

  def assert_close(expected, found)
    return expected.zip(found).each { |pair| assert_close(*pair) } if expected.is_a?(Array)
    return assert_equal expected, found if [true, false].include?(expected)

    assert_in_delta expected, found, 1e-6
  end
end
