"""What errors say: in the names that the user typed, what to write instead, and the names here of other libraries."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import oneflow_py as flow
from oneflow_py import _native

TEXTS = json.loads((Path(__file__).parents[1] / "texts.json").read_text())
X = flow.tensor([1.0, 2.0])


def leaf() -> Any:
    return flow.tensor([1.0, 2.0], requires_grad=True)


def made_within_no_grad() -> None:
    with flow.no_grad():
        y = (leaf() * 2).sum()
    y.backward()


def backward_within_no_grad() -> None:
    with flow.no_grad():
        (leaf() * 2).sum().backward()


def second_backward() -> None:
    w = leaf()
    y = (w * w).sum()
    y.backward()
    y.backward()


PROGRAMS: dict[str, Callable[[], object]] = {
    "made_within_no_grad": made_within_no_grad,
    "backward_within_no_grad": backward_within_no_grad,
    "second_backward": second_backward,
    "step_without_gradients": lambda: flow.optim.sgd_([X], [], lr=0.1),
    "step_without_rate": lambda: flow.optim.sgd_([X], [X]),
    "collective_in_place": lambda: flow.comm.local.all_reduce_(),
    "unknown_merge": lambda: flow.comm.local.all_reduce_([X], op="sub"),
    "function_of_a_namespace": lambda: flow.nn.functional.mse_loss(X, X, reduction="all"),
    "other_name": lambda: flow.expand_dims(X, 5),
    "in_place": lambda: flow.ones(2).add_(flow.ones(3)),
    "in_place_without_argument": lambda: flow.ones(2).add_(),
    "dtype_by_position": lambda: flow.tensor([1, 2], "int32"),
    "dtype_after_all": lambda: flow.sum(X, 0, True, "float64"),
    "classes_as_floats": lambda: flow.cross_entropy(flow.ones(2, 3), flow.tensor([0.0, 1.0])),
    "no_such_dimension": lambda: flow.ones(2, 3).size(2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_text(name: str) -> None:
    with pytest.raises(flow.Error) as caught:
        PROGRAMS[name]()
    assert str(caught.value) == TEXTS[name]["python"]


def test_what_users_write_first() -> None:
    w = leaf()
    (w * w).sum().backward()
    flow.optim.sgd_([w], [w.grad], lr=0.5)
    assert w.tolist() == [0, 0]
    assert w.grad.zero_() is not None
    assert w.grad.tolist() == [0, 0]
    assert w.grad.fill_(2).tolist() == [2, 2]
    assert (flow.ones(2, 3).size(0), flow.ones(2, 3).size(-1), flow.ones(2, 3).size()) == (2, 3, (2, 3))
    assert flow.cross_entropy([[0.0, 0.0]], [[0, 1]]).item() == pytest.approx(0.6931, abs=1e-4)


def resolve(path: str) -> object:
    return functools.reduce(getattr, path.split("."), flow)


@pytest.mark.parametrize("name", _native._elsewhere(False))
def test_a_function_of_another_library(name: str) -> None:
    text = _native._elsewhere(False)[name]
    _, called, here = text.rpartition("here it is called ")
    if called:
        assert resolve(here) is not None
    space, _, leaf_name = name.rpartition(".")
    owner = resolve(space) if space else flow
    if leaf_name in vars(owner):
        return
    assert not hasattr(owner, leaf_name)
    with pytest.raises(AttributeError) as caught:
        getattr(owner, leaf_name)
    assert str(caught.value) == f"module '{owner.__name__}' has no attribute '{leaf_name}'; {text}"


@pytest.mark.parametrize("name", _native._elsewhere(True))
def test_a_method_of_another_library(name: str) -> None:
    text = _native._elsewhere(True)[name]
    assert hasattr(X, text.rpartition(" ")[2])
    if hasattr(X, name):
        return
    assert name not in dir(X)
    with pytest.raises(AttributeError) as caught:
        getattr(X, name)
    assert str(caught.value) == f"'Tensor' object has no attribute '{name}'; {text}"


def test_unknown_names_have_the_texts_of_python() -> None:
    with pytest.raises(AttributeError, match=r"^module 'oneflow_py' has no attribute 'nothing'$"):
        flow.nothing  # noqa: B018
    with pytest.raises(ImportError):
        from oneflow_py import tensor2d  # noqa: F401
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        X.nothing  # noqa: B018
