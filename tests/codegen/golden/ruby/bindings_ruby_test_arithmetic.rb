# generated from opdefs/arithmetic.yaml by codegen, do not edit
# frozen_string_literal: true

require_relative "../test/helper"

# The examples and the error cases of the records in opdefs/arithmetic.yaml.
class GeneratedArithmeticTest < OneFlowTest
  def test_add_example_1
    OneFlow.manual_seed(0)
    assert_gives([11.0, 22.0], OneFlow.add(OneFlow.tensor([1.0, 2.0]), OneFlow.tensor([10.0, 20.0])))
  end

  def test_add_error_1
    assert_error(OneFlow::TypeMismatch, "add: other must be Tensor or Numeric, got String") do
      OneFlow.add(OneFlow.tensor([1.0]), "a")
    end
  end

  def test_gelu_example_1
    OneFlow.manual_seed(0)
    assert_gives([-0.1587, 0.0, 1.9545], OneFlow.gelu(OneFlow.tensor([-1.0, 0.0, 2.0])))
  end

  def test_gelu_error_1
    assert_error(OneFlow::DTypeError, "gelu: input must be a floating-point tensor, got int64") do
      OneFlow.gelu(OneFlow.tensor([1, 2]))
    end
  end
end
