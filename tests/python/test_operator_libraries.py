"""Tests libraries of operators: building them of records, loading them, and calls of their operators."""

from __future__ import annotations

import ctypes
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import oneflow_py as flow
from codegen.library import build as build_module
from codegen.load import Library, load_library
from codegen.model import Op
from tests.operator_library import RECORDS, ROOT, build_library, compiler
from tests.python.support import raises

LIBRARY = build_library()
my_ops: Any = flow.load_library(LIBRARY)


def codegen(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs the generator's command `build`."""
    command = [sys.executable, "-m", "codegen", "build", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "CXX": " ".join(compiler()), **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def compiled(source: str, to: Path) -> Path:
    """Returns the shared library of a source in C."""
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", to], input=source, text=True, check=True)
    return to


@pytest.fixture
def folder() -> Iterator[Path]:
    """Returns a folder whose path is so short that error texts have all of it."""
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


# ------------------------------------------------------------------------------------------------ loading


def test_a_library_is_a_module() -> None:
    assert flow.ops.my_ops is my_ops
    assert flow.load_library(str(LIBRARY)) is my_ops
    assert flow.load_library(os.fsencode(LIBRARY)) is my_ops  # type: ignore[arg-type]
    assert flow.load_library(path=LIBRARY) is my_ops
    assert my_ops.__name__ == "oneflow_py.ops.my_ops"
    assert my_ops.__file__ == str(LIBRARY.resolve())
    assert my_ops.__doc__ == "The operators of the library my_ops."


def test_functions_say_what_they_are() -> None:
    function = my_ops.power_sum
    assert (function.__name__, function.__qualname__, function.__module__) == (
        "power_sum", "power_sum", "oneflow_py.ops.my_ops",
    )  # fmt: skip
    assert repr(function) == "<function oneflow_py.ops.my_ops.power_sum>"
    assert str(inspect.signature(function)) == "(input, dim=None, keepdim=False, *, out=None)"
    assert inspect.getdoc(function).startswith("flow.ops.my_ops.power_sum(input: Data, dim: ")
    assert "flow.ops.my_ops.power_sum(flow.tensor([[1.0, 2.0], [3.0, 4.0]]), 1)  # [5.0, 25.0]" in function.__doc__
    assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(TypeError):
        type(function)()


def test_every_example_of_the_records() -> None:
    examples = [line.strip() for name in dir(my_ops) for line in (getattr(my_ops, name).__doc__ or "").splitlines()]
    calls = [line.partition("  # ") for line in examples if line.startswith("flow.ops.") and "  # " in line]
    assert len(calls) > 8
    for call, _, expected in calls:
        found = eval(call)
        shown = [each.tolist() for each in found] if isinstance(found, tuple) else found.tolist()
        if isinstance(found, tuple):
            expected = f"[{expected.replace('left ', '').replace('right ', '')}]"
        assert flow.tensor(shown).allclose(flow.tensor(eval(expected)), atol=1e-5), call


def test_loading_from_threads_at_once() -> None:
    program = f"""
import threading
import oneflow_py as flow
barrier = threading.Barrier(8)
found = []
def load():
    barrier.wait()
    found.append(flow.load_library({str(LIBRARY)!r}))
threads = [threading.Thread(target=load) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 8 and len(set(map(id, found))) == 1, found
assert found[0].double_add(flow.ones(2), 1).tolist() == [3, 3]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_files_that_are_no_libraries_of_operators(folder: Path) -> None:
    missing = folder / "missing.so"
    text = f"load_library: '{missing}' cannot be opened: No such file or directory"
    raises(flow.FileError, text, lambda: flow.load_library(missing))
    text = f"load_library: '{folder}' cannot be opened: Is a directory"
    raises(flow.FileError, text, lambda: flow.load_library(folder))
    broken = folder / "broken.so"
    broken.write_text("no library")
    with pytest.raises(flow.FileError, match=f"^load_library: '{broken}' cannot be loaded: "):
        flow.load_library(broken)
    for wrong, word in ((None, "None"), (3, "int")):
        text = f"load_library: path must be str or path, got {word}"
        raises(flow.TypeMismatch, text, lambda wrong=wrong: flow.load_library(wrong))
    pipe = folder / "pipe.so"
    os.mkfifo(pipe)
    text = f"load_library: '{pipe}' cannot be loaded: it is not a regular file"
    raises(flow.FileError, text, lambda: flow.load_library(pipe))
    short = folder / "short.so"
    short.write_bytes(LIBRARY.read_bytes()[:40000])
    text = f"load_library: '{short}' cannot be loaded: the file is truncated"
    raises(flow.FileError, text, lambda: flow.load_library(short))
    other = compiled("int x;", folder / "other.so")
    text = f"load_library: '{other}' is not a library of operators"
    raises(flow.Unsupported, text, lambda: flow.load_library(other))
    raises(flow.TypeMismatch, "load_library: path must be str or path, got int", lambda: flow.load_library(3))  # type: ignore[arg-type]
    raises(flow.TypeMismatch, "load_library: missing argument path", lambda: flow.load_library())  # type: ignore[call-arg]
    text = "load_library: path must be the name of a file, got ''"
    raises(flow.InvalidArgument, text, lambda: flow.load_library(""))
    text = "load_library: path must not have a null byte"
    raises(flow.InvalidArgument, text, lambda: flow.load_library("a\0b"))


def test_a_library_of_another_version(folder: Path) -> None:
    source = 'const char oneflow_operator_library[] = "0.0.1 (beef)"; void* oneflow_open_operator_library() {return 0;}'
    other = compiled(source, folder / "other.so")
    with pytest.raises(flow.Unsupported) as caught:
        flow.load_library(other)
    text = str(caught.value)
    assert text.startswith(f"load_library: '{other}' was built for oneflow 0.0.1 (beef), but this is oneflow ")
    assert text.endswith(": build it again")


def test_a_namespace_belongs_to_one_library(folder: Path) -> None:
    copy = Path(shutil.copy(LIBRARY, folder / "copy.so"))
    with pytest.raises(flow.Unsupported) as caught:
        flow.load_library(copy)
    text = str(caught.value)
    assert text.startswith(f"load_library: '{copy}' has operators of the namespace 'my_ops', and so has '")
    assert text.endswith("', which is loaded")
    link = folder / "link.so"
    link.symlink_to(LIBRARY)
    assert flow.load_library(link) is my_ops


class Info(ctypes.Structure):
    """The beginning of an of_op_info."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("counts", ctypes.c_int32 * 2),
        ("texts", ctypes.c_char_p * 4),
        ("arguments", ctypes.c_void_p),
        ("signature_id", ctypes.c_uint64),
        ("kernel_id", ctypes.c_uint64),
    )


def test_ids_are_those_of_the_records() -> None:
    library = ctypes.CDLL(flow.get_library())
    library.of_op_find.restype = ctypes.c_void_p
    definitions = load_library(RECORDS, ROOT).definitions
    gradients = [op for each in definitions.gradients.values() for op in each.operators]
    for op in (*definitions.ops, *gradients):
        info = Info(ctypes.sizeof(Info))
        found = ctypes.c_void_p(library.of_op_find(op.full_name.encode()))
        assert library.of_op_get_info(found, ctypes.byref(info)) == 0
        assert (info.signature_id, info.kernel_id) == (op.signature_id, op.kernel_id), op.full_name
        assert info.texts[0] == op.full_name.encode()


def test_operators_that_a_library_calls_may_not_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = build_module.called_operators

    def changed(library: Library) -> list[Op]:
        return [replace(op, summary="", signature=replace(op.signature, name="other")) for op in called(library)]

    monkeypatch.setattr(build_module, "called_operators", changed)
    build_module.build(write(folder / "changed", GOOD), folder, ROOT, compiler())
    with pytest.raises(flow.Unsupported) as caught:
        flow.load_library(folder / "changed.so")
    text = f"load_library: '{folder}/changed.so' was built for another version of the operator 'mul': build it again"
    assert str(caught.value) == text


# ------------------------------------------------------------------------------------------------ calls


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8"])
def test_elementwise_kernels(dtype: str) -> None:
    x = flow.arange(1000).to(dtype="float32").to(dtype=dtype)
    expected = flow.add(flow.mul(x, 2), 3)
    found = my_ops.double_add(x, 3)
    assert found.dtype == expected.dtype
    assert found.equal(expected)
    strided = flow.stack([x, x], 1)[:, 0]
    assert my_ops.double_add(strided, x).equal(flow.add(flow.mul(x, 2), x))


def test_functions_of_vectors() -> None:
    x = flow.linspace(-5, 5, 1001)
    assert my_ops.bump(x).equal(flow.exp(-0.5 * x * x))
    assert my_ops.bump(x, shape="tent", width=2.0).allclose(flow.relu(1 - x.abs() / 2))


def test_other_kinds() -> None:
    x = flow.randn(7, 5)
    assert my_ops.power_sum(x, 1, True).allclose((x * x).sum(1, True))
    assert my_ops.row_products(x, x).allclose((x * x).sum(1))
    assert my_ops.running_total(x, 0).allclose(x.cumsum(0))
    assert my_ops.turned_around(x, 1).equal(x.flip(1))
    view = my_ops.last_swapped(x)
    assert view.equal(x.mT)
    assert view.shares_memory_with(x)
    assert my_ops.squares([2, 2], dtype="int64").tolist() == [[0, 1], [4, 9]]
    left, right = halves = my_ops.split_halves(flow.arange(4))
    assert (left.tolist(), right.tolist(), halves.left is left) == ([0, 1], [2, 3], True)
    assert type(halves).__name__ == "LeftRight"
    assert pickle.loads(pickle.dumps(type(halves))) is type(halves)


def test_random_numbers_come_from_the_generator() -> None:
    x = flow.zeros(5)
    flow.manual_seed(3)
    first = my_ops.jitter(x, 2.0)
    flow.manual_seed(3)
    assert my_ops.jitter(x, 2.0).equal(first)
    flow.manual_seed(3)
    assert (flow.rand(5) * 2).equal(first)


def test_out() -> None:
    out = flow.empty(2)
    assert my_ops.double_add([1.0, 2.0], 1, out=out) is out
    assert out.tolist() == [3, 5]
    pair = (flow.empty(1), flow.empty(1))
    found = my_ops.split_halves([1.0, 2.0], out=pair)
    assert (found.left is pair[0], found.right is pair[1]) == (True, True)
    assert pair[1].tolist() == [2]


def test_a_new_tensor_may_require_a_gradient() -> None:
    assert my_ops.squares([2], requires_grad=True).requires_grad
    assert not my_ops.squares([2]).requires_grad


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (flow.TypeMismatch, "other must be Tensor or number, got str", lambda f: f.double_add(flow.ones(2), "x")),
        (flow.TypeMismatch, "missing argument other", lambda f: f.double_add(flow.ones(2))),
        (flow.TypeMismatch, "unknown argument width", lambda f: f.double_add(flow.ones(2), 1, width=2)),
        (flow.TypeMismatch, "takes at most 2 positional arguments, got 3", lambda f: f.double_add(flow.ones(2), 1, 2)),
        (
            flow.DTypeError,
            "input must be a numeric tensor, got bool",
            lambda f: f.double_add(flow.tensor([True]), True),
        ),
        (
            flow.ShapeError,
            "shapes [2] and [3] do not broadcast: dimension 0 has sizes 2 and 3",
            lambda f: f.double_add(flow.ones(2), flow.ones(3)),
        ),
        (flow.TypeMismatch, "out must be Tensor, got int", lambda f: f.double_add(flow.ones(2), 1, out=3)),
    ],
)
def test_errors(error: type[flow.Error], text: str, call: Callable[[Any], object]) -> None:
    raises(error, f"my_ops.double_add: {text}", lambda: call(my_ops))


def test_errors_of_bodies() -> None:
    text = "my_ops.rms_norm: input must have at least 1 dimension, got 0"
    raises(flow.ShapeError, text, lambda: my_ops.rms_norm(flow.tensor(1.0), flow.ones(1)))
    text = "my_ops.bump: shape must be 'bell' or 'tent', got 'x'"
    raises(flow.InvalidArgument, text, lambda: my_ops.bump(flow.ones(1), shape="x"))


def test_threads_call_at_once() -> None:
    x = flow.arange(1000.0)
    expected = my_ops.power_sum(x)

    def call(_: int) -> bool:
        return bool(my_ops.power_sum(x).equal(expected) and my_ops.double_add(x, x).equal(x * 3))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(call, range(200)))


# ------------------------------------------------------------------------------------------------ layers


@pytest.mark.parametrize(
    "function",
    [
        lambda x: my_ops.double_add(x, x),
        lambda x: my_ops.bump(x, width=2.0),
        lambda x: my_ops.power_sum(x, 1),
        lambda x: my_ops.row_products(x, x),
        lambda x: my_ops.rms_norm(x, x[0]),
        lambda x: my_ops.running_total(x, 0),
        lambda x: my_ops.turned_around(x, 1),
        lambda x: my_ops.last_swapped(x),
        lambda x: my_ops.split_halves(x).right,
    ],
)
def test_gradients(function: Callable[[flow.Tensor], flow.Tensor]) -> None:
    x = flow.randn(3, 4, dtype="float64").requires_grad_()
    assert flow.gradcheck(function, (x,))
    slope = lambda x: flow.grad(function(x).square().sum(), [x], create_graph=True)[0]  # noqa: E731
    assert flow.gradcheck(slope, (x,))


def test_graphs_call_operators_of_libraries(tmp_path: Path) -> None:
    weight = flow.randn(4)
    graph = flow.graph.capture(lambda x: my_ops.rms_norm(my_ops.double_add(x, 1), weight), flow.randn(3, 4))
    x = flow.randn(3, 4)
    expected = my_ops.rms_norm(my_ops.double_add(x, 1), weight)
    assert graph(x).allclose(expected)
    path = tmp_path / "norm.flow"
    graph.save(path)
    assert flow.graph.load(path)(x).allclose(expected)
    program = f"import oneflow_py as flow; flow.graph.load({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    text = "this library has no operator 'my_ops.double_add'; if a library of operators has it, load that first"
    assert done.stderr.splitlines()[-1].endswith(text)
    program = f"import oneflow_py as flow; flow.load_library({str(LIBRARY)!r}); flow.graph.load({str(path)!r})"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_device_without_the_kernels_falls_back() -> None:
    flow.reset_fallbacks()
    x = flow.ones(2, device="far:0")
    assert my_ops.double_add(x, 1).tolist() == [3, 3]
    assert my_ops.double_add(x, 1).device == "far:0"
    assert flow.fallbacks()["my_ops.double_add"] == 2
    flow.reset_fallbacks()
    assert "my_ops.double_add" not in flow.fallbacks()


# ------------------------------------------------------------------------------------------------ building


def write(folder: Path, text: str, name: str = "records.yaml") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


GOOD = """
- op: half
  signature: "half(Tensor input) -> Tensor"
  summary: Halves each element.
  composite: "mul(input, 0.5)"
  dtype: {accepts: floating, result: same}
"""


def test_what_the_command_writes(tmp_path: Path) -> None:
    folder = write(tmp_path / "My-Ops", f"- namespace: halves\n{GOOD}")
    done = codegen(folder, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    names = ["halves.d.ts", "halves.pyi", "halves.rbs", "halves.so"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    assert sorted(done.stdout.split()) == [str(tmp_path / "out" / name) for name in names]
    halves: Any = flow.load_library(tmp_path / "out" / "halves.so")
    assert halves.half(flow.ones(2)).tolist() == [0.5, 0.5]
    assert halves.half.__module__ == "oneflow_py.ops.halves"


MIXED = """
- namespace: maps
- op: mixed
  signature: "mixed(Tensor input, Tensor other) -> Tensor"
  summary: Calls functions of numbers with truth values.
  elementwise: "maximum(input > 0, other) + (input < other) // 2 + (input != other) ** other"
  dtype: {accepts: any, result: promote}

- op: add
  signature: "add(Tensor input, Tensor other) -> Tensor"
  summary: Has the name of an operator of oneflow, which derived gradients call.
  elementwise: "input * other + input ** 3"
  dtype: {accepts: floating, result: promote}

- op: clipped
  signature: "clipped(Tensor input, Tensor mask) -> Tensor"
  summary: Computes with truth values.
  elementwise: |
    input * input * ((input > 0) - (mask + 1)) if input > -1 and not input > 1 or mask & (input > 0) else 3 * input
  dtype: {accepts: {input: floating, mask: bool}, result: same}

- op: distances
  signature: "distances(int count) -> Tensor"
  summary: Calls functions of numbers with positions.
  generator: {sizes: "[count, count]", value: "maximum(row, column) % 3 + abs(row - column)"}
  dtype: {result: int64}

- op: highest_position
  signature: "highest_position(Tensor input, dim dim) -> Tensor"
  summary: Calls a function of numbers with a position in a fold.
  reduction:
    dims: dim
    state: {total: "0"}
    pre: {total: "maximum(index, input)"}
    combine: {total: "maximum(a.total, b.total)"}
    post: "maximum(total, count)"
  dtype: {accepts: numeric, result: same}
  gradient: {why: It is not needed., input: none}

- op: every_nth
  signature: "every_nth(Tensor input, dim dim, int n) -> Tensor"
  summary: Divides a position.
  gather: {dims: dim, source: "i // n"}
  dtype: {accepts: any, result: same}

- op: turned
  signature: "turned(Tensor(a) input) -> Tensor(a)"
  summary: Swaps the first two dimensions.
  view: "swap(input, 0, 1)"
"""


def test_expressions_of_numbers_positions_and_truth_values(folder: Path) -> None:
    """The namespace is also the name of a file that the generator writes."""
    build_module.build(write(folder / "mixed", MIXED), folder, ROOT, compiler())
    maps: Any = flow.load_library(folder / "maps.so")
    for dtype in ("float32", "int32"):
        found = maps.mixed(flow.tensor([3, -1, 2]).to(dtype=dtype), flow.tensor([1, 0, 2]).to(dtype=dtype))
        assert found.tolist() == [2, 1, 2]
        assert maps.highest_position(flow.tensor([1, 5, 0]).to(dtype=dtype), 0).item() == 5
    mask = flow.tensor([True, False, False, True])
    for device in ("cpu:0", "far:0"):
        points = flow.tensor([-1.3, -0.4, 0.3, 1.7], dtype="float64", device=device).requires_grad_()
        given = mask.to(device)
        value = lambda x, given=given: maps.add(maps.clipped(x, given), x)  # noqa: E731
        slope = lambda x, value=value: flow.grad(value(x).sum(), x, create_graph=True)[0]  # noqa: E731
        assert flow.gradcheck(value, points)
        assert flow.gradcheck(slope, points)
    assert maps.distances(3).tolist() == [[0, 2, 4], [2, 1, 3], [4, 3, 2]]
    assert maps.turned(flow.zeros(2, 3)).shape == (3, 2)
    x = flow.arange(4)
    assert maps.every_nth(x, 0, 2).tolist() == [0, 0, 1, 1]
    raises(flow.InvalidArgument, "maps.every_nth: division by zero", lambda: maps.every_nth(x, 0, 0))
    text = "maps.every_nth: index -1 is out of range for dimension 0 of size 4"
    raises(flow.IndexOutOfRange, text, lambda: maps.every_nth(x, 0, -1))


def test_namespaces_differ_in_every_language(folder: Path) -> None:
    for name in ("my_1", "my1"):
        build_module.build(write(folder / name, GOOD), folder, ROOT, compiler())
    flow.load_library(folder / "my1.so")
    text = f"load_library: '{folder}/my_1.so' has operators of the namespace '"
    with pytest.raises(flow.Unsupported) as caught:
        flow.load_library(folder / "my_1.so")
    assert str(caught.value).startswith(text)


def test_nothing_is_written_for_bad_records(tmp_path: Path) -> None:
    folder = write(tmp_path / "halves", GOOD.replace("mul(", "mull("))
    done = codegen(folder, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert f"{folder / 'records.yaml'}:5:15: unknown operator 'mull'" in done.stderr
    assert "1 error; nothing was written" in done.stderr
    assert not (tmp_path / "out").exists()


def test_no_compiler(tmp_path: Path) -> None:
    folder = write(tmp_path / "halves", GOOD)
    done = codegen(folder, "--out", tmp_path / "out", CXX="/nowhere/c++")
    text = "a library of operators needs a C++ compiler, and there is no program '/nowhere/c++': set CXX to one\n"
    assert (done.returncode, done.stderr) == (1, text)
    assert not (tmp_path / "out").exists()


def test_the_stub_is_that_of_the_module() -> None:
    stub = LIBRARY.with_suffix(".pyi").read_text()
    functions = {name for name, each in vars(my_ops).items() if callable(each) and not isinstance(each, type)}
    assert {line[4:].partition("(")[0] for line in stub.splitlines() if line.startswith("def ")} == functions
