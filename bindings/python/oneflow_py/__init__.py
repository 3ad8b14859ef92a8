"""Tensors, with operators that mean the same in Python, JavaScript and Ruby.

import oneflow_py as flow

    >>> x = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> flow.sum(x, dim=1, keepdim=True)
    tensor([[3.],
            [7.]])

Operators are functions of this module as well as methods of `Tensor`. `x.add_(y)` writes the result to `x`, and `out=`
to another tensor. Every error is an `oneflow_py.Error` and also an instance of Python's class for that kind of error:
`ShapeError` is a `ValueError`, `IndexOutOfRange` an `IndexError`.
"""

import sys as _sys

# Importing _load first says what is wrong with an installation that cannot be loaded.
from oneflow_py import _load, _native, autograd  # noqa: F401
from oneflow_py._native import *  # noqa: F403
from oneflow_py._native import __version__ as __version__
from oneflow_py.additions import install as _install_additions
from oneflow_py.autograd import FUNCTIONS as _AUTOGRAD
from oneflow_py.comparison import FUNCTIONS as _COMPARISON
from oneflow_py.comparison import install as _install_comparison
from oneflow_py.elsewhere import install as _install_elsewhere
from oneflow_py.extension import FUNCTIONS as _EXTENSION
from oneflow_py.numpy_protocol import install as _install_protocol

_install_comparison(_native.Tensor)
_install_protocol(_sys.modules[__name__], _native.Tensor)
_install_additions()
_EXPORTS = {each.__name__: each for each in (*_AUTOGRAD, *_COMPARISON, *_EXTENSION)}
globals().update(_EXPORTS)
__all__ = sorted(
    [name for name in vars(_native) if not name.startswith("_")]
    + list(_EXPORTS)
    + [module.__name__.rpartition(".")[2] for module in (autograd,)]
)
_install_elsewhere(_sys.modules[__name__], _native.Tensor)
