"""Oracles of elementwise operators that PyTorch has no function for, or that differ from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import scipy.special
import torch


def divmod_(input: torch.Tensor | float, other: torch.Tensor | float) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the quotient, rounded down, and the remainder."""
    return torch.floor_divide(input, other), torch.remainder(input, other)


def power(input: torch.Tensor | float, other: torch.Tensor | float) -> torch.Tensor:
    """Returns powers. Rejects negative powers of the integer 0, for which PyTorch returns 0."""
    result = torch.pow(input, other)
    base, exponent = torch.as_tensor(input), torch.as_tensor(other)
    if not (result.is_floating_point() or result.is_complex()) and ((base == 0) & (exponent < 0)).any():
        raise RuntimeError("division by zero")
    return result


def _by_scipy(function: Callable[..., Any], *operands: torch.Tensor | float) -> torch.Tensor:
    """Returns a function of SciPy in float64, in the dtype that PyTorch would compute it in.

    Where a gradient is asked for, the callers use PyTorch's function: it is less accurate, or refuses some operands.
    """
    tensors = [torch.as_tensor(each) for each in operands]
    dtype = torch.result_type(*operands) if len(operands) > 1 else tensors[0].dtype
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    return torch.as_tensor(function(*(each.double().numpy() for each in tensors))).to(dtype)


def _is_recorded(*operands: torch.Tensor | float) -> bool:
    return any(isinstance(each, torch.Tensor) and each.requires_grad for each in operands)


def digamma(input: torch.Tensor) -> torch.Tensor:
    """Returns SciPy's function. Rejects gradients at its poles, where those of PyTorch are finite."""
    if not _is_recorded(input):
        return _by_scipy(_digamma, input)
    if ((input <= 0) & (input == input.floor())).any():
        raise RuntimeError("it has no derivative at its poles")
    return torch.digamma(input)


def _digamma(x: Any) -> Any:
    """Returns SciPy's function, reflected for negative numbers: near integers, its own reflection is less accurate."""
    reflected = scipy.special.digamma(1 - x) - numpy.pi / numpy.tan(numpy.pi * (x - numpy.round(x)))
    return numpy.where((x < 0) & (x != numpy.floor(x)), reflected, scipy.special.digamma(x))


def log_hypot(input: torch.Tensor | float, other: torch.Tensor | float) -> torch.Tensor:
    if _is_recorded(input, other):
        return torch.log(torch.hypot(torch.as_tensor(input), torch.as_tensor(other)))
    return _by_scipy(_log_size, input, other)


def _log_size(x: Any, y: Any) -> Any:
    """Returns the real part of NumPy's logarithm of x + iy. The product with i would be NaN for an infinite y."""
    numbers = numpy.empty(numpy.broadcast_shapes(x.shape, y.shape), complex)
    numbers.real, numbers.imag = x, y
    with numpy.errstate(divide="ignore"):
        return numpy.log(numbers).real


def sigmoid_slope(input: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(input) * torch.sigmoid(-input)


def polygamma(n: int, input: torch.Tensor) -> torch.Tensor:
    if _is_recorded(input):
        return torch.polygamma(n, input)
    return digamma(input) if n == 0 else _by_scipy(lambda x: _polygamma(n, x), input)


def _polygamma(n: int, x: Any) -> Any:
    sign = 1 if n % 2 else -1
    return sign * scipy.special.gamma(n + 1) * _zeta(n + 1, x)


def zeta(input: torch.Tensor | float, other: torch.Tensor | float) -> torch.Tensor:
    return torch.special.zeta(input, other) if _is_recorded(input, other) else _by_scipy(_zeta, input, other)


def _zeta(s: Any, q: Any) -> Any:
    return numpy.vectorize(lambda s, q: float(_exact_zeta(float(s), float(q))), otypes=[float])(s, q)


def _exact_zeta(s: float, q: float) -> float:
    if math.isnan(s) or math.isnan(q) or math.isinf(s) or abs(q) > 1e9:
        raise RuntimeError("SciPy's function differs")
    if q > 0 or q == math.floor(q) or s <= 1 or s != math.floor(s):
        return float(scipy.special.zeta(s, q))
    terms = math.ceil(-q)
    return math.fsum((q + k) ** -s for k in range(terms)) + float(scipy.special.zeta(s, q + terms))


def i0(input: torch.Tensor) -> torch.Tensor:
    if _is_recorded(input):
        return torch.special.i0(input)
    return _by_scipy(lambda x: numpy.where(numpy.isinf(x), abs(x), scipy.special.i0(x)), input)


def i1(input: torch.Tensor) -> torch.Tensor:
    if _is_recorded(input):
        return torch.special.i1(input)
    return _by_scipy(lambda x: numpy.where(numpy.isinf(x), x, scipy.special.i1(x)), input)


def ndtr(input: torch.Tensor) -> torch.Tensor:
    return torch.special.ndtr(input) if _is_recorded(input) else _by_scipy(scipy.special.ndtr, input)


def log_ndtr(input: torch.Tensor) -> torch.Tensor:
    """Returns SciPy's function. Rejects gradients in float32 far below 0, where PyTorch has few right digits."""
    if not _is_recorded(input):
        return _by_scipy(scipy.special.log_ndtr, input)
    if input.dtype == torch.float32 and (input < -10).any():
        raise RuntimeError("the gradient would be inaccurate")
    return torch.special.log_ndtr(input)


def gcd(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Returns the greatest common divisors; PyTorch has no kernel for bool, and other ones of the lowest int32."""
    dtype = torch.result_type(input, other)
    return torch.gcd(input.long(), other.long()).to(dtype)


def ldexp(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Returns PyTorch's products, but 0 where it is 0 times a power of 2 that overflows."""
    found = torch.ldexp(input, other)
    if found.is_complex():
        return found
    near = torch.ldexp(input, other.to(found).clamp(-100, 100))
    return torch.where((input == 0) & torch.isfinite(other), near, found)


def arange(start: float, end: float, step: float = 1, *, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Returns PyTorch's numbers, which it computes in the type of the result; here, integers are rounded at the end.

    Rejects fractions as truth values.
    """
    if all(isinstance(each, int) for each in (start, end, step)):
        return torch.tensor(range(start, end, step), dtype=torch.int64).to(dtype or torch.int64)
    if dtype == torch.bool:
        raise RuntimeError("fractions would be rounded")
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return torch.arange(start, end, step, dtype=dtype)
    return torch.arange(start, end, step, dtype=torch.float64).to(torch.int64).to(dtype)


def linspace(start: float, end: float, steps: int, *, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Returns PyTorch's numbers; integers between integers are exact, where PyTorch computes in float64."""
    is_exact = isinstance(start, int) and isinstance(end, int) and dtype is not None
    if not is_exact or dtype.is_floating_point or dtype.is_complex:
        return torch.linspace(start, end, steps, dtype=dtype)
    last = max(steps - 1, 1)
    sums = [start * (last - i) + end * i for i in range(steps)]
    return torch.tensor([abs(each) // last * (-1 if each < 0 else 1) for each in sums], dtype=dtype)


def logspace(
    start: float, end: float, steps: int, base: float = 10.0, *, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """Returns PyTorch's powers. Rejects fractions as exponents of integers, which it rounds first."""
    if dtype is not None and not dtype.is_floating_point and start != int(start):
        raise RuntimeError("the exponents would be rounded")
    return torch.logspace(start, end, steps, base, dtype=dtype)


class _ExpDifference(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, other: torch.Tensor, share: float) -> torch.Tensor:
        if input.is_complex():  # NumPy has the standard's values beside infinities and NaN
            one, two = (each.detach().resolve_conj().numpy() for each in (input, other))
            with numpy.errstate(all="ignore"):
                found = torch.from_numpy(numpy.asarray(numpy.exp(one - two)))
        else:
            found = torch.exp(input - other)
            is_equal = (input == other).expand_as(found)
            found[is_equal & (input == math.inf)] = 1
            found[is_equal & (input == -math.inf)] = share
        ctx.save_for_backward(found)
        ctx.shapes = input.shape, other.shape
        return found

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        (found,) = ctx.saved_tensors
        slope = grads[0] * found.conj()
        return slope.sum_to_size(ctx.shapes[0]), -slope.sum_to_size(ctx.shapes[1]), None


def exp_difference(input: torch.Tensor, other: torch.Tensor, share: float) -> torch.Tensor:
    """Returns the exponential, also of the difference of equal infinities, where PyTorch's is NaN."""
    if input.dtype != other.dtype or not (input.is_floating_point() or input.is_complex()):
        dtype = torch.result_type(input, other)
        if not (dtype.is_floating_point or dtype.is_complex):
            dtype = torch.get_default_dtype()
        input, other = input.to(dtype), other.to(dtype)
    return _ExpDifference.apply(input, other, share)


def xlogy(input: torch.Tensor | float, other: torch.Tensor | float) -> torch.Tensor:
    """Returns PyTorch's function, of which both derivatives are 0 at (0, 0)."""
    x, y = torch.as_tensor(input), torch.as_tensor(other)
    if not _is_recorded(input, other):
        return torch.xlogy(input, other)
    return torch.xlogy(x, torch.where((x == 0) & (y == 0), torch.ones_like(y), y))


def xlog1py(input: torch.Tensor | float, other: torch.Tensor | float) -> torch.Tensor:
    """Returns PyTorch's function, of which both derivatives are 0 at (0, -1)."""
    x, y = torch.as_tensor(input), torch.as_tensor(other)
    if not _is_recorded(input, other):
        return torch.special.xlog1py(input, other)
    return torch.special.xlog1py(x, torch.where((x == 0) & (y == -1), torch.zeros_like(y), y))


def replace_special(input: torch.Tensor, nan: float, posinf: float, neginf: float) -> torch.Tensor:
    return torch.nan_to_num(input, nan, posinf, neginf)
