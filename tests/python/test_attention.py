"""Tests attention over so many rows that it is computed in blocks, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import oneflow_py as flow

ROWS, COLUMNS, WIDTH = 1500, 1100, 4


def masks() -> dict[str, np.ndarray | None]:
    random = np.random.default_rng(0)
    return {
        "none": None,
        "bool": random.random((ROWS, COLUMNS)) < 0.9,
        "float": random.normal(size=(2, ROWS, COLUMNS)),
        "of columns": random.normal(size=(1, COLUMNS)),
        "of columns alone": random.normal(size=(COLUMNS,)),
        "of rows": random.normal(size=(ROWS, 1)),
    }


@pytest.mark.parametrize("name", [*masks(), "causal"])
def test_blocks_of_rows(name: str) -> None:
    random = np.random.default_rng(1)
    arrays = [random.normal(size=(2, rows, WIDTH)) for rows in (ROWS, COLUMNS, COLUMNS)]
    mask = masks().get(name)
    if mask is not None and mask.dtype != bool:
        arrays.append(mask)
    ours = [flow.tensor(each).requires_grad_() for each in arrays]
    theirs = [torch.tensor(each, requires_grad=True) for each in arrays]
    options, others = {"is_causal": name == "causal"}, {"is_causal": name == "causal"}
    if mask is not None and mask.dtype == bool:
        options["attn_mask"], others["attn_mask"] = flow.tensor(mask), torch.tensor(mask)
    found = flow.scaled_dot_product_attention(*ours, **options)
    expected = torch.nn.functional.scaled_dot_product_attention(*theirs, **others)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), 1e-9, 1e-11)
    weights = random.normal(size=found.shape)
    found.backward(flow.tensor(weights))
    expected.backward(torch.tensor(weights))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), 1e-8, 1e-10)
