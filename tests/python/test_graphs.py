"""Tests graphs: capture with fixed and varying sizes, what cannot be captured, states, files, runs on threads."""

from __future__ import annotations

import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

import oneflow_py as flow
from tests.python.support import raises, raw


def assert_equal(found: Any, expected: Any) -> None:
    """Asserts that nested data has the same structure, and tensors with the same bytes."""
    if isinstance(expected, flow.Tensor):
        assert (found.dtype, found.shape, raw(found)) == (expected.dtype, expected.shape, raw(expected))
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            assert_equal(found[key], expected[key])
    else:
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)


def agrees(function: Any, *examples: tuple[Any, ...], **options: Any) -> flow.graph.Graph:
    """Captures a function with the first arguments, and asserts that the graph computes what it does for all."""
    graph = flow.graph.capture(function, examples[0], **options)
    for arguments in examples:
        assert_equal(graph(*arguments), function(*arguments))
    return graph


# ------------------------------------------------------------------------------------------------ capture


def test_a_graph_computes_what_the_function_does() -> None:
    weight, bias = flow.randn(4, 3), flow.randn(3)

    def layer(x: flow.Tensor, scale: flow.Tensor) -> flow.Tensor:
        return flow.softmax((x @ weight + bias).tanh() * scale, dim=-1)

    graph = agrees(layer, (flow.randn(2, 4), flow.randn(3)), (flow.randn(2, 4), flow.randn(3)))
    assert [each.name for each in graph.inputs] == ["x", "scale"]
    assert graph.inputs[0] == ("x", flow.float32, flow.device("cpu"), ("2", "4"))
    assert graph.outputs[0].shape == ("2", "3")
    assert repr(graph) == "<graph(x: float32[2, 4], scale: float32[3]) of 5 calls>"
    assert_equal(graph.constants, {"constant": weight, "constant.1": bias})


def test_nested_arguments_and_results() -> None:
    def step(state: dict[str, Any], x: flow.Tensor) -> dict[str, Any]:
        a, b = state["layers"]
        return {"y": a @ x, "rest": [b + 1, {"x": x, "empty": {}}]}

    state = {"layers": [flow.randn(3, 3), flow.arange(2)], "unused": flow.ones(1)}
    graph = agrees(step, (state, flow.randn(3)))
    assert [each.name for each in graph.inputs] == ["state.layers.0", "state.layers.1", "state.unused", "x"]
    assert_equal(graph(x=flow.ones(3), state=state)["rest"][1]["x"], flow.ones(3))
    raises(
        flow.TypeMismatch,
        "run: the arguments are nested in another way than at the capture; see inputs",
        lambda: graph({"layers": []}, flow.ones(3)),
    )


def test_weights_have_names() -> None:
    weights = {"layers": [{"weight": flow.randn(3, 2)}], "bias": flow.zeros(2)}
    graph = flow.graph.capture(
        lambda x: x @ weights["layers"][0]["weight"] + weights["bias"], flow.ones(1, 3), weights=weights
    )
    assert list(graph.constants) == ["layers.0.weight", "bias"]


def test_later_writes_to_weights_do_not_reach_the_graph() -> None:
    weight = flow.ones(2)
    graph = flow.graph.capture(lambda x: x * weight, flow.ones(2))
    weight.fill_(0)
    graph.constants["constant"].fill_(7)
    assert graph(flow.ones(2)).tolist() == [1, 1]


def test_writes_to_outputs_do_not_reach_constants() -> None:
    weight = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    graph = flow.graph.capture(lambda x: (weight, weight.T[0], x), flow.ones(1))
    for result in graph(flow.ones(1)):
        result.fill_(9)
    assert [each.tolist() for each in graph(flow.ones(1))] == [[[1, 2], [3, 4]], [1, 3], [1]]


def test_constants_that_require_gradients() -> None:
    weight = flow.ones(2).requires_grad_()
    graph = flow.graph.capture(lambda x: (x * weight).sum(), flow.ones(2))
    assert not graph(flow.ones(2)).requires_grad
    x = flow.tensor([1.0, 2.0]).requires_grad_()
    graph(x).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1, 1]


def test_a_gradient_is_captured() -> None:
    def gradient(x: flow.Tensor) -> flow.Tensor:
        x = x.detach().requires_grad_()
        return flow.grad((x.sin() * x).sum(), [x])[0]

    agrees(gradient, (flow.randn(3),), (flow.randn(3),))


def test_random_operators_draw_from_the_generator_of_the_run() -> None:
    own = flow.Generator(3)
    graph = flow.graph.capture(lambda x: x + flow.rand(3) + flow.rand(3, generator=own), flow.zeros(3))
    assert own.get_state() == flow.Generator(3).get_state()
    first, second = graph(flow.zeros(3)), graph(flow.zeros(3))
    assert first.tolist() != second.tolist()
    runs = [graph(flow.zeros(3), generator=flow.Generator(5)) for _ in range(2)]
    assert_equal(runs[0], runs[1])


def test_writes_in_place() -> None:
    def change(x: flow.Tensor) -> tuple[flow.Tensor, flow.Tensor]:
        y = x * 2
        view = y[1:]
        view.add_(1).relu_()
        y[0] = 5
        y[:, 0].mul_(3)
        return y, flow.add(y, 1, out=flow.empty(y.shape))

    graph = agrees(change, (flow.randn(3, 2),), (flow.randn(3, 2),))
    assert not graph.states


def test_results_that_are_no_views_have_memory_of_their_own() -> None:
    def change(x: flow.Tensor) -> tuple[flow.Tensor, flow.Tensor]:
        values, indices = flow.topk(x, 2)
        return values.add_(1), indices.mul_(2)

    graph = agrees(change, (flow.randn(5),), (flow.randn(5),))
    assert not graph.states
    size = flow.graph.capture(lambda x: flow.topk(x, 2), (flow.randn(5),)).cost().peak_bytes
    assert size == 2 * (4 + 8)


def test_states() -> None:
    total, count = flow.zeros(2), flow.zeros(1)

    def update(x: flow.Tensor) -> flow.Tensor:
        total.add_(x)
        count[0] += 1
        x.mul_(0)
        return total / count

    graph = flow.graph.capture(update, flow.ones(2), weights={"total": total, "count": count})
    assert total.tolist() == [0, 0]
    x = flow.tensor([2.0, 4.0])
    result, states = graph(x, states=True)
    assert result.tolist() == [2, 4]
    assert {name: each.tolist() for name, each in states.items()} == {"x": [0, 0], "total": [2, 4], "count": [1]}
    assert (x.tolist(), total.tolist()) == ([2, 4], [0, 0])
    assert [each.name for each in graph.states] == ["x", "total", "count"]


def test_batch_norm_has_states_in_training_only() -> None:
    statistics = flow.zeros(3), flow.ones(3)
    for training in (False, True):
        graph = flow.graph.capture(
            lambda x, on=training: flow.batch_norm(x, *statistics, training=on), flow.randn(4, 3)
        )
        assert bool(graph.states) is training


# ------------------------------------------------------------------------------------------------ varying sizes


def test_sizes_follow_from_those_of_the_inputs() -> None:
    weight = flow.randn(4, 3, 3, 3)

    def function(image: flow.Tensor) -> dict[str, flow.Tensor]:
        n, _, height, width = image.shape
        x = flow.conv2d(image, weight, stride=2, padding=1)
        rows = x.shape[2] * x.shape[3]
        x = x.reshape(n, 4, rows).transpose(1, 2)
        halves = flow.zeros(n, rows // 2) + flow.arange(rows // 2)
        return {
            "x": x, "halves": halves, "mean": x.sum(1) / rows, "first": image[:, :, : height - 3, width // 2 :],
            "eye": flow.eye(height + width), "count": image.sum() / image.numel(),
        }  # fmt: skip

    sizes = {"image": ["n", None, "height", "width"]}
    examples = [(flow.randn(n, 3, h, w),) for n, h, w in [(2, 16, 16), (1, 9, 31), (5, 22, 6)]]
    graph = agrees(function, *examples, dynamic=sizes)
    assert graph.outputs[0].shape[0] == "n"
    assert "[n, 4, (height + 1)/2, (width + 1)/2]" in str(graph)


def test_one_name_is_the_first_dimension_of_all_inputs() -> None:
    for dynamic in ("batch", {"batch"}, ["batch"], {0: {0: "batch"}, "y": ["batch"]}):
        graph = agrees(
            lambda x, y: x + y[:, None],
            (flow.ones(2, 3), flow.ones(2)),
            (flow.ones(7, 3), flow.ones(7)),
            dynamic=dynamic,
        )
        assert graph.sizes == {"batch": range(1, 2**63)}
    raises(
        flow.ShapeError,
        "run: dimension 0 of input 'y' must be 7, as 'batch' is elsewhere, got 6",
        lambda: graph(flow.ones(7, 3), flow.ones(6)),
    )


def test_ranges() -> None:
    graph = flow.graph.capture(
        lambda x: x.reshape(x.shape[0] // 4, 4).sum(1), flow.ones(8), dynamic="time", ranges={"time": range(4, 65, 4)}
    )
    assert graph.sizes == {"time": range(4, 65, 4)}
    assert graph(flow.ones(64)).shape == (16,)
    for size in (6, 68):
        raises(
            flow.ShapeError,
            f"run: 'time' must be between 4 and 64 in steps of 4, got {size} in dimension 0 of input 'x'",
            lambda size=size: graph(flow.ones(size)),
        )


def test_ranges_that_are_large_or_negative() -> None:
    def sizes(given: range) -> Any:
        return flow.graph.capture(lambda x: x + 1, flow.ones(2), dynamic="n", ranges={"n": given}).sizes

    assert sizes(range(1, 10**30)) == {"n": range(1, 2**63)}
    raises(flow.TypeMismatch, "capture: ranges['n'] must be a range of sizes that is not empty, got range(-5, 5)",
           lambda: sizes(range(-5, 5)))  # fmt: skip


def test_control_flow_on_sizes_is_an_error() -> None:
    with pytest.raises(flow.InvalidArgument, match="call 0 is relu, not tanh") as found:
        flow.graph.capture(lambda x: x.relu() if x.shape[0] > 3 else x.tanh(), flow.ones(3), dynamic="n")
    assert "with n = 4 than with n = 3" in str(found.value)
    with pytest.raises(flow.InvalidArgument, match="whose elements depend on sizes"):
        flow.graph.capture(lambda x: x + flow.tensor(list(range(x.shape[0]))), flow.ones(3), dynamic="n")
    with pytest.raises(flow.InvalidArgument, match="that follows from no size"):
        flow.graph.capture(lambda x: flow.full([1], x.shape[0] ** 2 % 7), flow.ones(3), dynamic="n")


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.sum().item(), lambda x: x.tolist(), lambda x: x.numpy(), str, lambda x: bool(x.sum()),
        lambda x: flow.equal(x, x), lambda x: x[x > 0], flow.nonzero, lambda x: flow.save(x, "never.npy"),
        lambda x: flow.tensor(x.sum()).item(), lambda x: flow.allclose(x, x),
        lambda x: list(range(x.to(flow.int64).sum())),
    ],
)  # fmt: skip
def test_elements_cannot_be_read(read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def function(x: flow.Tensor) -> flow.Tensor:
        read(x + 1)
        return x

    with pytest.raises(flow.Unsupported) as found:
        flow.graph.capture(function, flow.ones(3))
    assert "function" in [entry.name for entry in found.traceback]
    assert (flow.ones(2) + 1).tolist() == [2, 2]


def test_memory_of_a_value_cannot_be_shared() -> None:
    for shares in (flow.Tensor.numpy, memoryview):
        with pytest.raises(flow.Unsupported, match=r"^the tensor has no elements while a graph is captured: "):
            flow.graph.capture(lambda x, shares=shares: shares(x) and x, flow.ones(3))


def test_constants_can_be_read() -> None:
    scale = flow.tensor(2.0)
    graph = flow.graph.capture(lambda x: x * scale.item(), flow.ones(1))
    assert graph(flow.ones(1)).item() == 2


def test_an_exception_of_the_function_passes_through() -> None:
    def function(x: flow.Tensor) -> flow.Tensor:
        raise KeyError("x")

    with pytest.raises(KeyError):
        flow.graph.capture(function, flow.ones(3))
    assert flow.ones(3).sum().item() == 3


def test_values_of_an_ended_capture_are_useless() -> None:
    kept: list[flow.Tensor] = []
    flow.graph.capture(lambda x: kept.append(x + 1) or x, flow.ones(2))
    with pytest.raises(flow.InvalidArgument, match="one that has ended"):
        kept[0] + 1
    with pytest.raises(flow.InvalidArgument, match="one that has ended"):
        flow.graph.capture(lambda x: x + kept[0], flow.ones(2))
    for read in (repr, flow.Tensor.item, flow.Tensor.tolist):
        with pytest.raises(flow.InvalidArgument, match="one that has ended"):
            read(kept[0])
    with pytest.raises(flow.InvalidArgument, match="one that has ended"):
        kept[0].numpy()


def test_captures_nest() -> None:
    def outer(x: flow.Tensor) -> flow.Tensor:
        inner = flow.graph.capture(lambda y: y * 2, flow.ones(2))
        return inner(x) + 1

    agrees(outer, (flow.ones(2),))


def test_wrong_arguments() -> None:
    graph = flow.graph.capture(lambda x, y: x @ y, (flow.ones(2, 3), flow.ones(3)))
    x, y = flow.ones(2, 3), flow.ones(3)
    raises(flow.TypeMismatch, "run: missing argument 'y'", lambda: graph(x))
    raises(flow.TypeMismatch, "run: the graph takes 2 arguments, got 3", lambda: graph(x, y, y))
    raises(flow.TypeMismatch, "run: there is no argument 'z'; the graph takes x, y", lambda: graph(x, z=y))
    raises(flow.TypeMismatch, "run: the argument 'x' is given twice", lambda: graph(x, x=y))
    raises(
        flow.ShapeError, "run: dimension 1 of input 'x' must be 3, got shape [2, 4]", lambda: graph(flow.ones(2, 4), y)
    )
    raises(
        flow.ShapeError, "run: input 'y' must have 1 dimensions, got shape [3, 1]", lambda: graph(x, flow.ones(3, 1))
    )
    raises(flow.DTypeError, "run: input 'y' must be a float32 tensor, got int64", lambda: graph(x, flow.arange(3)))
    raises(
        flow.TypeMismatch,
        "capture: function must be callable, got int",
        lambda: flow.graph.capture(3, flow.ones(1)),  # type: ignore[arg-type]
    )
    raises(
        flow.InvalidArgument,
        "capture: the size 'n' is 2 in one dimension, and 3 in dimension 1 of 'x'",
        lambda: flow.graph.capture(lambda x: x, flow.ones(2, 3), dynamic={"x": ["n", "n"]}),
    )
    raises(
        flow.IndexOutOfRange,
        "capture: input 'x' has no dimension 5 for size 'n': its shape is [2]",
        lambda: flow.graph.capture(lambda x: x, flow.ones(2), dynamic={"x": {5: "n"}}),
    )
    raises(
        flow.InvalidArgument,
        "capture: dynamic has no input 'z'; there are x",
        lambda: flow.graph.capture(lambda x: x, flow.ones(2), dynamic={"z": ["n"]}),
    )


# ------------------------------------------------------------------------------------------------ files


def test_files(tmp_path: Path) -> None:
    weight = flow.randn(3, 3, dtype=flow.bfloat16)
    path = tmp_path / "model.flow"
    graph = flow.graph.capture(
        lambda x, *_: {"a": flow.einsum("ij,jk->ik", x, weight).clamp(-1.5, float("inf")), "b": x.to(flow.int8)},
        (flow.ones(2, 3, dtype=flow.bfloat16),),
        dynamic="n",
        weights={"weight": weight},
    )
    graph.save(path)
    loaded = flow.graph.load(path, verify=True)
    assert str(loaded) == str(graph)
    x = flow.randn(5, 3, dtype=flow.bfloat16)
    assert_equal(loaded(x), graph(x))
    assert_equal(loaded.constants, {"weight": weight})


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "model.flow"
    weight = flow.ones(64)
    flow.graph.capture(lambda x: x * weight, flow.ones(64)).save(path)
    content = path.read_bytes()
    for at in range(len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        with pytest.raises(flow.Error):
            flow.graph.load(path, verify=True)
    flow.save({"x": flow.ones(1)}, tmp_path / "other.safetensors")
    with pytest.raises(flow.InvalidArgument, match="the file holds no graph"):
        flow.graph.load(tmp_path / "other.safetensors")
    with pytest.raises(flow.FileError):
        flow.graph.load(tmp_path / "missing.flow")


# ------------------------------------------------------------------------------------------------ runs


@pytest.mark.parametrize(
    ("before", "after"),
    [("dim=1", "dim=2"), ("dim=1", 'dim="a"'), ("input=%0", "input=3"), ("float32[2, 3]", "float32[2, -3]")],
)
def test_files_whose_operators_refuse_what_they_get(before: str, after: str, tmp_path: Path) -> None:
    """Whatever is wrong with a file, it is malformed."""
    path = str(tmp_path / "a.safetensors")
    flow.graph.capture(lambda x: flow.softmax(x, dim=1), flow.ones(2, 3)).save(path)
    with flow.open_file(path) as file:
        metadata = file.metadata
    text = metadata["oneflow.graph"]
    assert before in text
    text = text.replace(before, after)
    checksum = zlib.crc32((text + metadata["oneflow.version"]).encode())
    metadata |= {"oneflow.graph": text, "oneflow.graph.crc32": f"{checksum:08x}"}
    flow.save({}, path, metadata=metadata)
    with pytest.raises(flow.InvalidArgument, match=r"^load: "):
        flow.graph.load(path)


def test_threads_run_one_graph() -> None:
    weight = flow.randn(16, 16)
    graph = flow.graph.capture(lambda x: (x @ weight).relu() @ weight, flow.ones(2, 16), dynamic="n")
    failures: list[str] = []

    def work(seed: int) -> None:
        x = flow.randn(seed + 1, 16, generator=flow.Generator(seed))
        expected = raw((x @ weight).relu() @ weight)
        failures.extend("differs" for _ in range(50) if raw(graph(x)) != expected)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_runs_leave_no_memory() -> None:
    graph = flow.graph.capture(lambda x: (x * 2).sum(), flow.ones(1000))
    x = flow.ones(1000)
    for _ in range(2):
        graph(x)
    before = flow.memory_stats()["in_use"]
    for _ in range(1000):
        graph(x)
    with pytest.raises(flow.ShapeError):
        graph(flow.ones(3))
    assert flow.memory_stats()["in_use"] <= before
