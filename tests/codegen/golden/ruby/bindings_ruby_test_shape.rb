# generated from opdefs/shape.yaml by codegen, do not edit
# frozen_string_literal: true

require_relative "../test/helper"

# The examples and the error cases of the records in opdefs/shape.yaml.
class GeneratedShapeTest < OneFlowTest
  def test_zeros_example_1
    OneFlow.manual_seed(0)
    assert_gives([0, 0], OneFlow.zeros([2], dtype: :int32))
  end

  def test_zeros_error_1
    assert_error(OneFlow::ShapeError, "zeros: size must not be negative, got -1") do
      OneFlow.zeros([-1])
    end
  end

  def test_slice_example_1
    OneFlow.manual_seed(0)
    assert_gives([1, 3], OneFlow.slice(OneFlow.tensor([0, 1, 2, 3, 4]), 0, 1, 5, 2))
  end

  def test_slice_error_1
    assert_error(OneFlow::InvalidArgument, "slice: step must not be zero") do
      OneFlow.slice(OneFlow.tensor([1.0]), 0, 0, 1, 0)
    end
  end

  def test_double_slice_example_1
    OneFlow.manual_seed(0)
    assert_gives([2, 10], OneFlow.double_slice(OneFlow.tensor([1, 2, 3, 4, 5])))
  end

  def test_double_slice_error_1
    assert_error(OneFlow::TypeMismatch, "double_slice: input must be Tensor, got Integer") do
      OneFlow.double_slice(1)
    end
  end
end
