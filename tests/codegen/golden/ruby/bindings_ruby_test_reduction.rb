# generated from opdefs/reduction.yaml by codegen, do not edit
# frozen_string_literal: true

require_relative "../test/helper"

# The examples and the error cases of the records in opdefs/reduction.yaml.
class GeneratedReductionTest < OneFlowTest
  def test_max_dim_example_1
    OneFlow.manual_seed(0)
    assert_gives([[5.0, 7.0], [1, 0]], OneFlow.max(OneFlow.tensor([[1.0, 5.0], [7.0, 3.0]]), 1))
  end

  def test_max_dim_error_1
    assert_error(OneFlow::IndexOutOfRange, "max: dim must be between -2 and 1 for a tensor with 2 dimensions, got 2") do
      OneFlow.max(OneFlow.tensor([[1.0]]), 2)
    end
  end
end
