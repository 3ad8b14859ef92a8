# frozen_string_literal: true

# The first hour of someone who knows Numo::NArray: creating, shaping, computing, indexing, and what comes beyond.
require "oneflow"

# Creating
a = OneFlow.arange(6).reshape(2, 3)
p a.shape, a.dtype, a.ndim, a.size # [2, 3] | :int64 | 2 | 6
p OneFlow::Tensor[[1, 2], [3, 4]].to_a # [[1, 2], [3, 4]]
p OneFlow.zeros(2).to_a, OneFlow.linspace(0, 1, 3).to_a # [0.0, 0.0] | [0.0, 0.5, 1.0]
p OneFlow.eye(2, dtype: :int64).to_a # [[1, 0], [0, 1]]

# Arithmetic is elementwise; Arrays and numbers are operands.
p (a + 1).to_a, (2 * a).to_a # [[1, 2, 3], [4, 5, 6]] | [[0, 2, 4], [6, 8, 10]]
p (a * [1, 0, 1]).to_a # [[0, 0, 2], [3, 0, 5]]
p a.matmul([[1], [1], [1]]).to_a # [[3], [12]]
p (a > 2).to_a # [[false, false, false], [true, true, true]]

# Sums over dimensions
p a.sum.item, a.sum(axis: 0).to_a, a.amax(axis: 1).to_a # 15 | [3, 5, 7] | [2, 5]
p a.double.mean(axis: 1, keepdims: true).to_a # [[1.0], [4.0]]

# Indexing
p a[0, 1].item, a[1, :all].to_a, a[0..1, 2].to_a # 1 | [3, 4, 5] | [2, 5]
p a[a > 3].to_a # [4, 5]
a[0, 0] = 9
p a.to_a # [[9, 1, 2], [3, 4, 5]]

# Shapes
p a.T.shape, a.flatten.shape, a.expand_dims(0).shape # [3, 2] | [6] | [1, 2, 3]
p OneFlow.concatenate([a, a], axis: 0).shape, OneFlow.vstack([[1, 2], [3, 4]]).to_a # [4, 3] | [[1, 2], [3, 4]]

# Beyond Numo: einsum, and gradients
p OneFlow.einsum("ij,kj->ik", a, a).to_a # [[86, 41], [41, 50]]
w = OneFlow.tensor([1.0, 2.0], requires_grad: true)
(w * w).sum.backward
p w.grad.to_a # [2.0, 4.0]
