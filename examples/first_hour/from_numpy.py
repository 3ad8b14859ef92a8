"""The first hour of someone who knows NumPy: creating, computing, indexing, stacking, and NumPy's own functions."""

import numpy as np

import oneflow_py as flow

# Creating
a = flow.arange(15).reshape(3, 5)
print(a.shape, a.ndim, a.dtype, a.itemsize, a.size())  # (3, 5) 2 int64 8 (3, 5)
print(flow.tensor([1.2, 3.5, 5.1]).dtype)  # float32
print(flow.zeros((2, 3)).tolist())  # [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
print(flow.linspace(0, 2, 5).tolist())  # [0.0, 0.5, 1.0, 1.5, 2.0]

# Arithmetic is elementwise; lists and arrays are operands.
b = flow.arange(4)
print((flow.tensor([20, 30, 40, 50]) - b).tolist())  # [20, 29, 38, 47]
print((b**2 < 5).tolist())  # [True, True, True, False]
print((b - [1, 1, 2, 2]).tolist(), (np.ones(4, int) * b).tolist())  # [-1, 0, 0, 1] [0, 1, 2, 3]
m = flow.tensor([[1, 1], [0, 1]])
print((m * [[2, 0], [3, 4]]).tolist(), (m @ [[2, 0], [3, 4]]).tolist())  # [[2, 0], [0, 4]] [[5, 4], [3, 4]]

# Sums, and NumPy's names of arguments
c = flow.arange(12).reshape(3, 4)
print(c.sum(axis=0).tolist(), c.amin(axis=1).tolist())  # [12, 15, 18, 21] [0, 4, 8]
print(c.cumsum(axis=1)[-1].tolist())  # [8, 17, 27, 38]
print(flow.mean(c.float(), axis=1, keepdims=True).tolist())  # [[1.5], [5.5], [9.5]]

# Indexing
print(c[2, 3].item(), c[:, 1].tolist(), c[-1].tolist())  # 11 [1, 5, 9] [8, 9, 10, 11]
print(c[c > 8].tolist(), c[[0, 2], [1, 3]].tolist())  # [9, 10, 11] [1, 11]
print(c[flow.newaxis, ..., 0].shape)  # (1, 3)
c[c % 2 == 1] = 0
print(c.tolist())  # [[0, 0, 2, 0], [4, 0, 6, 0], [8, 0, 10, 0]]

# Shapes and stacks
print(c.ravel().shape, c.T.shape, c.reshape(2, -1).shape)  # (12,) (4, 3) (2, 6)
x, y = flow.tensor([1, 2]), flow.tensor([3, 4])
print(flow.vstack([x, y]).tolist(), flow.hstack([x, y]).tolist())  # [[1, 2], [3, 4]] [1, 2, 3, 4]
print(flow.concatenate([[x.tolist()], [y.tolist()]], axis=1).tolist())  # [[1, 2, 3, 4]]

# NumPy's own functions return tensors.
print(type(np.sin(x)).__name__, np.sum(c, axis=1).tolist())  # Tensor [2, 10, 18]
print(round(float(np.std(flow.tensor([1.0, 2.0, 3.0, 4.0]))), 4))  # 1.118

# What NumPy does not have: gradients
w = flow.tensor([1.0, 2.0], requires_grad=True)
(w * w).sum().backward()
print(w.grad.tolist())  # [2.0, 4.0]
