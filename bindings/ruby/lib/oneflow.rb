# frozen_string_literal: true

# Tensors and the operators on them. Every operator is a function of this module or of a module in it; most are also
# methods of Tensor:
#
#     x = OneFlow.tensor([[1.0, 2.0], [3.0, 4.0]])
#     OneFlow.sum(x, dim: 1, keepdim: true)
#     x.sum(dim: 1)
#     2 * x + 1
module OneFlow
end

require "oneflow/extension"
require "oneflow/headers"
require "oneflow/plugins"
require "oneflow/device"
require "oneflow/comm"
require "oneflow/einsum_expression"
require "oneflow/files"
require "oneflow/object"
require "oneflow/graph"
require "oneflow/profile"
require "oneflow/tensor"
require "oneflow/comparison"
require "oneflow/conversions"
require "oneflow/autograd"
require "oneflow/autograd/gradcheck"
require "oneflow/printing"
require "oneflow/elsewhere"
