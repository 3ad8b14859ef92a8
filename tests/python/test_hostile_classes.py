"""Tests hostile calls of all members of classes, and of the functions beside them: each error has its class, and begins
with the name of the member."""

from __future__ import annotations

import copy
import json
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import oneflow_py as flow

FILE = Path(__file__).parents[2] / "bindings" / "python" / "generated" / "tests" / "classes.json"
MEMBERS = json.loads(FILE.read_text(encoding="utf-8"))[1:]
WRONG = object()
TENSOR = flow.ones([2])
GRAPH = flow.graph.capture(lambda x: x + 1, [TENSOR])
with flow.profile() as PROFILE:
    pass
with tempfile.TemporaryDirectory() as folder:
    flow.save(TENSOR, f"{folder}/a.npy")
    FILE_OF_TENSORS = flow.open_file(f"{folder}/a.npy")
# An argument of each type, and an object of each class.
SAMPLES = {
    "int": 1, "word": 1, "positive": 1, "bool": True, "float": 0.5, "str": "a", "path": "/nowhere/x", "size": 1,
    "range": range(1, 3), "function": lambda x: x, "nested": [TENSOR], "array": TENSOR, "Tensor": TENSOR, "any": None,
    "RandomState": (1, 2), "Graph": GRAPH, "Profile": PROFILE, "TensorFile": FILE_OF_TENSORS,
    "HookHandle": flow.ones([2], requires_grad=True).register_hook(lambda grad: grad),
    "Stream": flow.default_stream(), "Event": flow.Event("accel:0"),
    "Rule": flow.graph.rule(lambda x: x + 0, lambda x: x, [TENSOR]),
    "Group": flow.comm.Group([0]), "Work": flow.comm.all_reduce_async(TENSOR),
}  # fmt: skip

# An object of each other class, whose constructor needs no argument.
SAMPLES |= {each["class"]: getattr(flow, each["class"])() for each in MEMBERS
            if each["name"] == "new" and each["class"] not in SAMPLES}  # fmt: skip

Call = tuple[str, tuple[Any, ...], dict[str, Any], str]


def sample(type_: str) -> Any:
    if type_.endswith("?"):
        return None
    return [] if type_.endswith("[]") else {} if type_.endswith("{}") else SAMPLES[type_]


def target(member: dict[str, Any], owner: Any) -> Callable[..., Any]:
    """Returns what calls a member, of an object if it has one."""
    space = getattr(flow, member["namespace"]) if member["namespace"] else flow
    if not member["class"]:
        return getattr(space, member["name"])
    if member["name"] == "new":
        return getattr(space, member["class"])
    if not member["property"]:
        return getattr(owner, member["name"])
    if member["parameters"]:
        return lambda value: setattr(owner, member["name"], value)
    return lambda: getattr(owner, member["name"])


def calls(member: dict[str, Any]) -> Iterator[Call]:
    """Yields what is wrong with a call, its arguments, and a part of its error text."""
    parameters = [each for each in member["parameters"] if not each["collects"]]
    positional = [each for each in parameters if not each["named"]]
    required = [each for each in positional if each["required"]]
    collectors = [each for each in member["parameters"] if each["collects"]]
    collects = "".join(each["collects"] for each in collectors)
    given = tuple(sample(each["type"]) for each in required)
    if member["property"]:
        yield from [("a wrong type", (WRONG,), {}, "must be ")] if parameters else []
        return
    for position, each in enumerate(positional):
        if each["type"].rstrip("?") != "any":
            before = tuple(sample(other["type"]) for other in positional[:position])
            rest = given[position + 1 :] if each["required"] else ()
            yield f"a wrong {each['name']}", (*before, WRONG, *rest), {}, f"{each['name']} must be "
    for each in parameters:
        if each["named"] and each["type"].rstrip("?") != "any":
            yield f"a wrong {each['name']}", given, {each["name"]: WRONG}, f"{each['name']} must be "
    if required:
        yield "a missing argument", (), {}, f"missing argument {required[0]['name']}"
    if "*" in (collects, collects.removesuffix("**")):
        yield "a wrong item", (*given, WRONG), {}, " must be "
    else:
        most = (*(sample(each["type"]) for each in positional), *([{}] if collectors else []))
        yield "too many arguments", (*most, 1), {}, "takes at most "
    if collects in ("**", "***"):
        yield "a wrong item", given, {"nope": WRONG}, " must be "
    else:
        yield "an unknown name", given, {"nope": 1}, "unknown argument nope"


CALLS = [(member, *call) for member in MEMBERS for call in calls(member)]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]['class']}-{call[0]['name']}-{call[1]}")
def test_wrong_arguments(call: tuple[dict[str, Any], str, tuple[Any, ...], dict[str, Any], str]) -> None:
    member, _, positional, named, text = call
    call_member = target(member, SAMPLES.get(member["class"]))
    with pytest.raises(flow.TypeMismatch) as caught:
        call_member(*positional, **named)
    assert str(caught.value).startswith(f"{member['says']}: ")
    assert text in str(caught.value)


METHODS = [each for each in MEMBERS if each["class"] and each["name"] != "new"]


@pytest.mark.parametrize("member", METHODS, ids=lambda member: f"{member['class']}-{member['name']}")
def test_an_object_without_a_handle(member: dict[str, Any]) -> None:
    owner = type(SAMPLES[member["class"]])
    required = [each for each in member["parameters"] if each["required"] and not each["collects"]]
    with pytest.raises(flow.InvalidArgument) as caught:
        target(member, owner.__new__(owner))(*(sample(each["type"]) for each in required))
    assert str(caught.value) == f"{member['name']}: __init__ of the class {owner.__name__} has not been called"


class Lying(dict[str, Any]):
    """A dict whose items() returns something else."""

    def __init__(self, found: Any) -> None:
        super().__init__(a=TENSOR)
        self.found = found

    def items(self) -> Any:
        return self.found


@pytest.mark.parametrize(("found", "kind"), [([1], "int"), ([("a",)], "tuple"), (iter(["ab"]), "str")])
def test_items_that_are_no_pairs(found: Any, kind: str, tmp_path: Path) -> None:
    with pytest.raises(flow.TypeMismatch) as caught:
        flow.save(Lying(found), tmp_path / "a.safetensors")
    name = f"{Lying.__module__}.Lying"
    assert str(caught.value) == f"items() of {name} must give tuples of a key and a value, got {kind}"


def test_sizes_that_lie(tmp_path: Path) -> None:
    class Long(list[Any]):
        def __len__(self) -> int:
            return 10**9

        def __iter__(self) -> Iterator[Any]:
            raise KeyError("iter")

    class Large(dict[str, Any]):
        def __len__(self) -> int:
            return 10**9

    flow.save(Long([TENSOR]), tmp_path / "list.npz")
    flow.save(Large(a=TENSOR), tmp_path / "map.npz")
    assert [*flow.load(tmp_path / "map.npz")] == ["a"]
    assert len(flow.load(tmp_path / "list.npz")) == 1
    assert GRAPH.optimize(inputs=Long([TENSOR]), without=Long()).call_count == 1


def test_an_object_is_created_once() -> None:
    generator = flow.Generator(3)
    for created in (generator, flow.default_generator):
        state = created.get_state()
        with pytest.raises(flow.InvalidArgument, match=r"^Generator: the object was created before$"):
            created.__init__(5)  # type: ignore[misc]
        assert created.get_state() == state


def test_copies_of_an_object_without_a_handle() -> None:
    unfinished = flow.Generator.__new__(flow.Generator)
    for function in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(flow.InvalidArgument, match=r"^get_state: __init__ of the class"):
            function(unfinished)


@pytest.mark.parametrize(("name", "shown"), [("x\0", "x\\x00"), ("\ud800", "\\ud800"), ("", "")])
def test_names_that_are_no_texts(name: str, shown: str) -> None:
    for function in (GRAPH, flow.Generator, GRAPH.cost):
        with pytest.raises(flow.TypeMismatch) as caught:
            function(**{name: TENSOR})
        assert str(caught.value).partition(": ")[2] == f"unknown argument {shown}"


def test_long_values_are_cut() -> None:
    with pytest.raises(flow.TypeMismatch) as caught:
        flow.Generator(1).set_state(list(range(10**5)))  # type: ignore[arg-type]
    assert str(caught.value).startswith(
        "set_state: state must be tuple of two ints, the seed and the offset, got [0, 1"
    )
    with pytest.raises(flow.TypeMismatch) as second:
        flow.graph.capture(lambda x: x, TENSOR, dynamic={"x": {0: flow.ones(40, 40)}})
    assert "\n" not in str(second.value)
    with pytest.raises(flow.InvalidArgument) as third:
        FILE_OF_TENSORS.read("a" * 10**5)
    assert all(len(str(each.value)) < 250 for each in (caught, second, third))
