"""Oracles of the steps of optimizers: those of torch.optim, in which the state is a list of tensors."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

Tensors = list[torch.Tensor]


def _stepped(optimizer: torch.optim.Optimizer, params: Tensors, grads: Tensors, states: list[dict[str, Any]]) -> None:
    """Makes a step of an optimizer that has the given state for each parameter."""
    for param, grad, state in zip(params, grads, states, strict=True):
        param.grad = grad.clone()
        optimizer.state[param] = state
    optimizer.step()
    for param in params:
        param.grad = None


def _copied(tensors: Tensors) -> Tensors:
    return [copy.deepcopy(each.detach()).requires_grad_() for each in tensors]


def sgd_(
    params: Tensors, grads: Tensors, momentum_buffers: Sequence[torch.Tensor] = (), *, lr: float, **options: Any
) -> Any:
    """The new parameters."""
    return _sgd(params, grads, list(momentum_buffers), lr, options)[0]


def sgd_update(param: Any, grad: Any, momentum_buffer: Any, lr: float, **options: Any) -> Any:
    """The new parameter and the new buffer."""
    param, grad, momentum_buffer = torch.broadcast_tensors(param, grad, momentum_buffer)
    stepped, buffers = _sgd([param.contiguous()], [grad], [momentum_buffer.contiguous()], lr, options)
    options = {"momentum": 0.0, "dampening": 0.0, "weight_decay": 0.0, "maximize": False} | options
    signed = -grad if options["maximize"] else grad
    total = signed + options["weight_decay"] * param
    buffer = buffers[0] if buffers[0] is not None else (1 - options["dampening"]) * total
    if options["momentum"] == 0:  # PyTorch then leaves out the buffer, and the dampening with it
        return param - lr * buffer, buffer
    return stepped[0], buffer


def _sgd(params: Tensors, grads: Tensors, buffers: Tensors, lr: float, options: dict[str, Any]) -> Any:
    stepped = _copied(params)
    if not params:
        return [], []
    kept = [each.clone() for each in buffers] if buffers else [None] * len(params)
    if options.get("momentum", 0.0) == 0:
        options = options | {"nesterov": False}
    optimizer = torch.optim.SGD(stepped, lr=lr, **options)
    _stepped(optimizer, stepped, grads, [{"momentum_buffer": each} for each in kept])
    found = [optimizer.state[each].get("momentum_buffer") for each in stepped]
    return [each.detach() for each in stepped], found if options.get("momentum", 0.0) else [None] * len(params)


def adam_(params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, **options: Any) -> Any:
    """The new parameters."""
    return _adam(torch.optim.Adam, params, grads, exp_avgs, exp_avg_sqs, options)


def adamw_(params: Tensors, grads: Tensors, exp_avgs: Tensors, exp_avg_sqs: Tensors, **options: Any) -> Any:
    """The new parameters."""
    return _adam(torch.optim.AdamW, params, grads, exp_avgs, exp_avg_sqs, options)


def _adam(kind: Any, params: Tensors, grads: Tensors, firsts: Tensors, seconds: Tensors, options: Any) -> Any:
    if not params:
        return []
    step = options.pop("step")
    betas = (options.pop("beta1", 0.9), options.pop("beta2", 0.999))
    stepped = _copied(params)
    states = [
        {"step": torch.tensor(float(step - 1)), "exp_avg": first.clone(), "exp_avg_sq": second.clone()}
        for first, second in zip(firsts, seconds, strict=True)
    ]
    _stepped(kind(stepped, betas=betas, **options), stepped, grads, states)
    return [each.detach() for each in stepped]


def adam_update(
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    step_size: float,
    root_scale: float,
    fraction1: float,
    fraction2: float,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    shrink: float = 1.0,
    maximize: bool = False,
) -> Any:
    """The formula; `adam_` checks it against torch.optim."""
    total = (-grad if maximize else grad) + weight_decay * param
    first = exp_avg + fraction1 * (total - exp_avg)
    second = (1 - fraction2) * exp_avg_sq + fraction2 * total * total
    return param * shrink - step_size * first / (torch.sqrt(second) / root_scale + eps), first, second
