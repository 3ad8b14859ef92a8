from oneflow_py import _native, autograd
from oneflow_py._native import *  # noqa: F403
from oneflow_py._native import __version__ as __version__
from oneflow_py.autograd import FUNCTIONS as _FUNCTIONS

globals().update({function.__name__: function for function in _FUNCTIONS})
__all__ = sorted(
    [name for name in vars(_native) if not name.startswith("_")]
    + [function.__name__ for function in _FUNCTIONS]
    + [autograd.__name__.rpartition(".")[2]]
)
