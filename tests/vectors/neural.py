"""Oracles of records for neural networks whose names or arguments PyTorch does not have."""

from __future__ import annotations

from typing import Any

import torch


def unfold(input: torch.Tensor, dimension: int, size: int, step: int, dilation: int = 1) -> torch.Tensor:
    """`torch.Tensor.unfold`, with a distance between the elements of a window."""
    reach = dilation * (size - 1) + 1 if size > 0 else 0
    if dilation == 1:
        return input.unfold(dimension, size, step)
    return input.unfold(dimension, reach, step)[..., ::dilation]


def windows(input: torch.Tensor, size: list[int], step: list[int], padding: list[int], dilation: list[int]) -> Any:
    """The windows of the dimensions from 2 on, padded with zeros."""
    found = torch.nn.functional.pad(input, [each for each in reversed(padding) for _ in range(2)])
    for d in range(len(size)):
        found = unfold(found, 2 + d, size[d], step[d], dilation[d])
    return found


def add_windows(input: torch.Tensor, size: list[int], step: list[int], padding: list[int], dilation: list[int]) -> Any:
    """The transpose of `windows`, which PyTorch's backward pass gives."""
    whole = torch.zeros(*input.shape[:2], *size, dtype=input.dtype)
    n = len(size)
    positions = torch.arange(whole.numel() + 1)[1:].reshape(whole.shape)
    of_windows = windows(positions, list(input.shape[2 + n :]), step, padding, dilation)
    for d in range(n):
        of_windows = of_windows.narrow(2 + d, 0, input.shape[2 + d])
    border = torch.zeros(1, dtype=input.dtype)  # takes what lies in the border
    flat = torch.cat([border, whole.flatten()])
    return flat.index_add(0, of_windows.flatten(), input.flatten())[1:].reshape(whole.shape)


def convolution(*arguments: Any, **keywords: Any) -> Any:
    """`torch.convolution`, without the libraries that round float16 differently."""
    with torch.backends.mkldnn.flags(enabled=False):
        return torch.convolution(*arguments, **keywords)


def _without_libraries(name: str) -> Any:
    """Returns a function of torch.nn.functional, without the libraries that round float16 differently."""

    def function(*arguments: Any, **keywords: Any) -> Any:
        with torch.backends.mkldnn.flags(enabled=False):
            return getattr(torch.nn.functional, name)(*arguments, **keywords)

    return function


conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d = map(
    _without_libraries,
    ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
)


def max_pool(
    input: torch.Tensor,
    n: int,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
    **options: Any,
) -> Any:
    """The function for this number of dimensions."""
    function = getattr(torch.nn.functional, f"max_pool{n}d")
    return function(input, kernel_size, stride or None, padding, dilation, ceil_mode, **options)


def max_pool_with_indices(input: torch.Tensor, *arguments: Any) -> Any:
    """The function for this number of dimensions."""
    return max_pool(input, *arguments, return_indices=True)


def pooling_border(
    input: torch.Tensor,
    n: int,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
    value: float,
) -> Any:
    """Adds what the windows of PyTorch's function reach."""
    like = torch.zeros(1, *input.shape[-n:])
    pooled = max_pool(like, n, kernel_size, stride, padding, dilation, ceil_mode)
    border: list[int] = []
    for d in reversed(range(n)):
        k, by, edge, apart = (each[d % len(each)] for each in (kernel_size, stride or kernel_size, padding, dilation))
        reached = (pooled.shape[1 + d] - 1) * by + apart * (k - 1) + 1
        border += [edge, edge + max(reached - like.shape[1 + d] - 2 * edge, 0) * ceil_mode]
    return torch.nn.functional.pad(input, border, value=value)


def avg_pool(input: torch.Tensor, kernel_size: list[int], *arguments: Any) -> Any:
    """The function for this number of dimensions."""
    return getattr(torch.nn.functional, f"avg_pool{len(kernel_size)}d")(input, kernel_size, *arguments)


def adaptive_avg_pool(input: torch.Tensor, output_size: list[int]) -> Any:
    """The function for this number of dimensions."""
    return getattr(torch.nn.functional, f"adaptive_avg_pool{len(output_size)}d")(input, output_size)


def standardize(
    input: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    weight: Any = 1.0,
    bias: Any = 0.0,
    eps: float = 1e-5,
) -> Any:
    """The formula."""
    input, mean, variance = torch.broadcast_tensors(input, mean, variance)
    return (input - mean) / torch.sqrt(variance + eps) * weight + bias


def standardize_dims(input: torch.Tensor, dim: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """The formula, with the moments of the input."""
    variance, mean = torch.var_mean(input, dim, correction=0, keepdim=True)
    return standardize(input, mean, variance, 1 if weight is None else weight, 0 if bias is None else bias, eps)


def move_average_(average: torch.Tensor, value: torch.Tensor, fraction: float) -> torch.Tensor:
    return average.lerp_(value.to(average.dtype), fraction)


def batch_norm(input: torch.Tensor, running_mean: Any, running_var: Any, *arguments: Any, **keywords: Any) -> Any:
    """The function, which may write to the running moments: those of the case are kept."""
    moments = [each if each is None else each.detach().clone() for each in (running_mean, running_var)]
    return torch.nn.functional.batch_norm(input, *moments, *arguments, **keywords)


def instance_norm(input: torch.Tensor, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """The function, without running moments."""
    return torch.nn.functional.instance_norm(input, weight=weight, bias=bias, eps=eps)


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Any:
    """The function under PyTorch's name, which takes no mask together with `is_causal`."""
    return torch.matmul(attention_weights(query, key, attn_mask, is_causal, scale), value)


def attention_weights(
    query: torch.Tensor,
    key: torch.Tensor,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    first: int = 0,
) -> Any:
    """The formula."""
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool)
    if is_causal:
        seen = seen.tril(first)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        seen = seen & attn_mask
    elif attn_mask is not None:
        scores = scores + attn_mask
    scores = scores.masked_fill(~seen, -torch.inf)
    nothing = (scores == -torch.inf).all(-1, keepdim=True)
    return torch.where(nothing, 0, torch.softmax(scores, -1))


def give_to_maximum(element: torch.Tensor, maximum: torch.Tensor, left: torch.Tensor, total: torch.Tensor) -> Any:
    """The formula."""
    here = (element == maximum) | (element.isnan() & maximum.isnan())
    return torch.where(here, total + left, total), torch.where(here, 0, left)
