"""Functions in C++ over the tensors of oneflow_py."""

import oneflow_py  # noqa: F401 - it loads liboneflow, which the module below uses
from flow_extras._native import live_tables, noisy, scaled_tanh, squares, standardize

__all__ = ["live_tables", "noisy", "scaled_tanh", "squares", "standardize"]
