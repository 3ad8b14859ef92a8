# frozen_string_literal: true

require "minitest/autorun"
require "oneflow"
require "flow_extras"

# Tests the gem as its users see it.
class ExtrasTest < Minitest::Test
  def test_a_fused_function
    x = OneFlow.tensor([[0.0, 1.0], [2.0, -1.0]])
    assert OneFlow.allclose(FlowExtras.scaled_tanh(x, scale: 2.0), x.tanh * 2)
    assert OneFlow.allclose(FlowExtras.scaled_tanh(x.transpose(0, 1)), x.transpose(0, 1).tanh)
  end

  def test_operators_with_gradients
    x = OneFlow.tensor([[1.0, 2.0, 3.0], [4.0, 6.0, 8.0]], requires_grad: true)
    result = FlowExtras.standardize(x)
    assert OneFlow.allclose(result.std(dim: 1, correction: 0), OneFlow.ones([2]))
    (result**3).sum.backward
    assert_equal [2, 3], x.grad.shape
  end

  def test_a_generator
    x = OneFlow.zeros([1000])
    first, second = Array.new(2) { FlowExtras.noisy(x, 2.0, generator: OneFlow::Generator.new(7)) }
    assert_equal first.to_a, second.to_a
    assert_in_delta 2.0, first.std.item, 0.2
    OneFlow.manual_seed(7)
    assert_equal first.to_a, FlowExtras.noisy(x, 2.0).to_a
  end

  def test_memory_of_the_module
    before = FlowExtras.live_tables
    100.times { assert_equal [1, 4, 9], FlowExtras.squares(4)[1..].to_a }
    GC.start until FlowExtras.live_tables < before + 50
    assert_operator FlowExtras.live_tables, :<, before + 50
  end

  def test_errors_are_those_of_oneflow
    assert_fails(OneFlow::TypeMismatch, /\Ascaled_tanh: input must be Tensor, got String\z/) do
      FlowExtras.scaled_tanh("x")
    end
    assert_fails(OneFlow::TypeMismatch, /\Anoisy: generator must be Generator, got Integer\z/) do
      FlowExtras.noisy(OneFlow.zeros([1]), 1.0, 7)
    end
    assert_fails(OneFlow::DTypeError, /\Ascaled_tanh: input must be float32, got int64\z/) do
      FlowExtras.scaled_tanh(OneFlow.tensor([1]))
    end
    assert_fails(OneFlow::IndexOutOfRange, /\Amean: dim must be between -1 and 0 /) do
      FlowExtras.standardize(OneFlow.zeros([2]), 3)
    end
    assert_fails(OneFlow::InvalidArgument, /\Asquares: count must not be negative, got -1\z/) do
      FlowExtras.squares(-1)
    end
  end

  private

  def assert_fails(error, message, &)
    assert_match message, assert_raises(error, &).message
  end
end
