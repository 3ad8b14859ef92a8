"""Graphs: functions that are captured once, saved with their weights, and run without the code that made them.

>>> import oneflow_py as flow
>>> weight = flow.tensor([[1.0, 2.0], [3.0, 4.0]])
>>> def layer(x):
...     return flow.relu(x @ weight - 5)
>>> g = flow.graph.capture(layer, flow.ones(1, 2), dynamic={"batch"})
>>> g(flow.ones(3, 2))
tensor([[0., 1.],
        [0., 1.],
        [0., 1.]])
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oneflow_py import _native as native
from oneflow_py._native import InvalidArgument, Tensor, TypeMismatch
from oneflow_py.nested import TENSOR, encoded_path, encoded_text, nodes_of, restored, type_name
from oneflow_py.passes import PassInfo, PassReport, Report, passes

__all__ = ["Graph", "PassInfo", "PassReport", "Report", "Rule", "ValueInfo", "capture", "load", "passes", "rule"]

# The parts of a graph, as the C API numbers them.
_INPUT, _OUTPUT, _CONSTANT = range(3)
_LARGEST = 2**63 - 1

# Which dimensions of the inputs vary: a name for the first dimension of all inputs, or names by input and dimension.
Dynamic = str | set[str] | Sequence[str] | Mapping[Any, Mapping[int, str] | Sequence[str | None]]


class ValueInfo(NamedTuple):
    """An input, an output or a constant of a graph.

    shape: how each size follows from the named sizes: "64", "batch", "(time + 1)/2"; "?" if that is not known
    """

    name: str
    dtype: native.dtype
    device: native.device
    shape: tuple[str, ...]


class OperatorCost(NamedTuple):
    """The cost of all calls of an operator in a graph; see `Cost`."""

    name: str
    calls: int
    operations: int
    bytes_read: int
    bytes_written: int


class Cost(NamedTuple):
    """What a run of a graph takes; see `Graph.cost`. `str()` gives a table with a line per operator.

    operations: 2 for each combination of indices of all labels of a contraction; one for each operator or function in
        the expression of an element, times the elements; none for native operators and for views
    bytes_read, bytes_written: of memory, if each call reads its operands once and writes its results once
    constant_bytes: the size of the constants
    peak_bytes: the most bytes of values that exist at a time, without inputs and constants
    operators: the one with the most operations first, then the one with the most bytes
    """

    operations: int
    bytes_read: int
    bytes_written: int
    constant_bytes: int
    peak_bytes: int
    operators: list[OperatorCost]
    table: str

    def __str__(self) -> str:
        return self.table.removesuffix("\n")


class Graph:
    """A program of calls of operators with its constants; see `capture` and `load`.

    It does not change. `str()` gives its text, a line per call.
    """

    def __init__(self, handle: native._Graph, report: Report | None = None) -> None:
        self._handle = handle
        self._report = report
        self._inputs = handle.nodes(_INPUT)
        self._outputs = handle.nodes(_OUTPUT)
        self._returned = sum(kind == TENSOR for kind, *_ in self._outputs)
        self._arguments = [key or "" for _, _, key, _ in _children(self._inputs)]
        self._takes_tensors = len(self._inputs) == len(self._arguments) + 1
        self._gives_tensor = self._outputs[0][0] == TENSOR

    @property
    def inputs(self) -> list[ValueInfo]:
        """The tensors that the graph takes. The name of a nested one joins its keys: "cache.0"."""
        return [ValueInfo(*each) for each in self._handle.values(_INPUT)]

    @property
    def outputs(self) -> list[ValueInfo]:
        """The tensors that the graph returns, without `states`."""
        return [ValueInfo(*each) for each in self._handle.values(_OUTPUT)[: self._returned]]

    @property
    def states(self) -> list[ValueInfo]:
        """The tensors to which the captured function has written: inputs or constants, which the graph copies."""
        return [ValueInfo(*each) for each in self._handle.values(_OUTPUT)[self._returned :]]

    @property
    def constants(self) -> dict[str, Tensor]:
        """The tensors that the graph holds, by their names."""
        return {name: self._handle.constant(i) for i, (name, *_) in enumerate(self._handle.values(_CONSTANT))}

    @property
    def note(self) -> str:
        """What `onnx.load` has found out about sizes, such as that one is fixed; empty for other graphs. Files do not
        keep it."""
        return self._handle.note()

    @property
    def sizes(self) -> dict[str, range]:
        """The named sizes, with the values that they can have."""
        return {name: range(minimum, maximum + 1, step) for name, minimum, maximum, step in self._handle.sizes()}

    def __call__(
        self, *arguments: Any, states: bool = False, generator: native.Generator | None = None, **named: Any
    ) -> Any:
        """Runs the graph with arguments as those of the captured function, and returns what that has returned.

            states: returns a tuple instead: the result, and a dictionary of the new `states`
            generator: random operators draw from it instead of the default generator

        Raises ShapeError, DTypeError or DeviceError for a tensor that is not as in `inputs`.
        """
        if not isinstance(states, bool):
            raise TypeMismatch(f"run: states must be bool, got {type_name(states)}")
        if generator is not None and not isinstance(generator, native.Generator):
            raise TypeMismatch(f"run: generator must be Generator or None, got {type_name(generator)}")
        results = self._handle.run(self._tensors(arguments, named), generator)
        output = results[0] if self._gives_tensor else restored(iter(self._outputs), iter(results))
        if not states:
            return output
        names = [name for name, *_ in self._handle.values(_OUTPUT)]
        return output, dict(zip(names[self._returned :], results[self._returned :], strict=True))

    def warm_up(self, **sizes: int) -> None:
        """Makes the next runs as fast as later ones: runs the graph with inputs of zeros, which plans and takes memory.

        sizes: the named sizes, all or none of them; by default those of the example of the capture
        """
        names = list(self.sizes)
        if sizes and set(sizes) != set(names):
            raise InvalidArgument(f"warm_up: the sizes must be {', '.join(names) or 'none'}, got {', '.join(sizes)}")
        for name, size in sizes.items():
            if not isinstance(size, int) or isinstance(size, bool):
                raise TypeMismatch(f"warm_up: {name} must be int, got {type_name(size)}")
        self._handle.warm_up([sizes[name] for name in names] if sizes else [])

    @property
    def memory(self) -> int:
        """The bytes of intermediate results of the last run that was planned; 0 before. Each thread takes so many."""
        return self._handle.memory()

    @property
    def memory_limit(self) -> int | None:
        """The most bytes of a run, for intermediate results and outputs, beyond which it raises OutOfMemory."""
        return self._handle.memory_limit() or None

    @memory_limit.setter
    def memory_limit(self, limit: int | None) -> None:
        if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool)):
            raise TypeMismatch(f"memory_limit: the limit must be int or None, got {type_name(limit)}")
        if limit is not None and not 0 < limit <= _LARGEST:
            raise InvalidArgument(f"memory_limit: the limit must be positive, got {limit}")
        self._handle.set_memory_limit(limit or 0)

    def save(self, path: str | bytes | os.PathLike[Any]) -> None:
        """Saves the graph to a file: a safetensors file, whose tensors are the constants. Raises FileError."""
        self._handle.save(encoded_path("save", path))

    def optimize(
        self,
        level: int = 2,
        *,
        inputs: Any = None,
        without: Sequence[str] = (),
        measure: bool = True,
        rules: Sequence[Rule] = (),
        weights: native.dtype | str | None = None,
    ) -> Graph:
        """Returns a graph that computes the same with fewer or faster calls. Its `report` says what each pass has done.

            level: 0 removes calls, 1 also makes changes that give the same bits, 2 also those that round differently
            inputs: as for a run, for the runs that measure errors; by default they are random
            without: the names of passes that do not run; see `passes`
            measure: whether the graph runs before and after each pass, to measure the error that it causes
            rules: of the caller, which are applied before the passes; see `rule`
            weights: float16 or bfloat16: large constants are stored as such, and converted in each run

        Raises InvalidArgument for an unknown pass.
        """
        if isinstance(level, bool) or not isinstance(level, int):
            raise TypeMismatch(f"optimize: level must be int, got {type_name(level)}")
        if not isinstance(measure, bool):
            raise TypeMismatch(f"optimize: measure must be bool, got {type_name(measure)}")
        if isinstance(without, str) or not isinstance(without, Sequence | set | frozenset):
            raise TypeMismatch(f"optimize: without must be a list of str, got {type_name(without)}")
        names = [encoded_text("optimize", "a name in without", name) for name in without]
        tensors = self._examples(inputs)
        return self._optimized(level, names, measure, tensors, rules, only_rules=False, weights=weights)

    def _examples(self, inputs: Any) -> list[Tensor]:
        """Returns the tensors of inputs that are given for measuring errors: none for None."""
        if inputs is None:
            return []
        return self._tensors(tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,), {})

    def rewrite(self, *rules: Rule, inputs: Any = None, measure: bool = True) -> Graph:
        """Returns a graph to which rules were applied, and nothing else; see `rule` and `optimize`."""
        tensors = self._examples(inputs)
        return self._optimized(0, [], measure, tensors, rules, only_rules=True)

    def _optimized(
        self,
        level: int,
        without: list[bytes],
        measure: bool,
        inputs: list[Tensor],
        rules: Sequence[Rule],
        *,
        only_rules: bool,
        weights: native.dtype | str | None = None,
    ) -> Graph:
        for each in rules:
            if not isinstance(each, Rule):
                raise TypeMismatch(f"optimize: an item of rules must be Rule, got {type_name(each)}")
        parts = [
            (encoded_text("optimize", "the name of a rule", each.name), each.left._handle,
             [encoded_text("optimize", "a constant", name) for name in each.constants], each.right, each.error)
            for each in rules
        ]  # fmt: skip
        stored = None if weights is None else encoded_text("optimize", "weights", str(weights))
        handle, rows, error, table = self._handle.optimize(level, without, measure, inputs, parts, only_rules, stored)
        return Graph(handle, Report([PassReport(*row) for row in rows], error, table))

    @property
    def report(self) -> Report | None:
        """What the passes have done that made this graph; None for one that `optimize` has not made."""
        return self._report

    def cost(self, /, **sizes: int) -> Cost:
        """Returns what a run takes, from shapes alone, with a value for each of the named sizes: `g.cost(batch=8)`.

        Raises InvalidArgument for a size that is missing or unknown, and ShapeError for a value that it cannot have.
        """
        values = [(encoded_text("cost", "a size", name), _size_value(name, value)) for name, value in sizes.items()]
        operations, read, written, constants, peak, operators, table = self._handle.cost(values)
        parts = [OperatorCost(*each) for each in operators]
        return Cost(operations, read, written, constants, peak, parts, table)

    def picture(self) -> str:
        """Returns a drawing of the graph, an SVG image: a box for each call, and lines for the values between them."""
        return self._handle.picture()

    def _repr_svg_(self) -> str:
        """Shows the picture in notebooks."""
        return self.picture()

    def __str__(self) -> str:
        return self._handle.text()

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}: {dtype}[{', '.join(shape)}]" for name, dtype, _, shape in self.inputs)
        calls = self._handle.call_count()
        return f"<graph({arguments}) of {calls} call{'' if calls == 1 else 's'}>"

    def _tensors(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Tensor]:
        """Returns the tensors of the arguments in the order of `inputs`."""
        is_short = self._takes_tensors and not named and len(arguments) == len(self._arguments)
        if is_short and all(isinstance(each, Tensor) for each in arguments):
            return list(arguments)
        nodes = nodes_of("run", self._bind(arguments, named), what="the arguments")
        found = [(kind, count, None if key is None else key.decode()) for kind, count, key, _ in nodes]
        if found != [(kind, count, key) for kind, count, key, _ in self._inputs]:
            raise TypeMismatch("run: the arguments are nested in another way than at the capture; see inputs")
        return [tensor for *_, tensor in nodes if tensor is not None]

    def _bind(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """Returns the arguments by their names, in the order of the captured function."""
        names = self._arguments
        if len(arguments) > len(names):
            raise TypeMismatch(f"run: the graph takes {len(names)} arguments, got {len(arguments)}")
        given = dict(zip(names, arguments, strict=False))
        for name, value in named.items():
            if name not in names:
                raise TypeMismatch(f"run: there is no argument {name!a}; the graph takes {', '.join(map(str, names))}")
            if name in given:
                raise TypeMismatch(f"run: the argument {name!a} is given twice")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeMismatch(f"run: missing argument {missing[0]!a}")
        return {name: given[name] for name in names}


class Rule(NamedTuple):
    """A rule of the caller; see `rule`.

    left: what is searched for; its inputs are the variables
    right: computes the result from tensors for the variables; None says that the rule does not apply
    constants: the names of the variables that must be constants
    error: the largest relative error; with 0, numbers must be equal, and not only nearly equal
    """

    name: str
    left: Graph
    right: Callable[..., Tensor | None]
    constants: tuple[str, ...]
    error: float


def rule(
    left: Callable[..., Tensor],
    right: Callable[..., Tensor],
    example_inputs: Any,
    *,
    when: Callable[..., bool] | None = None,
    constants: Sequence[str] = (),
    name: str = "rule",
    error: float = 1e-6,
) -> Rule:
    """Returns a rule: where a graph makes the calls of `left`, it makes those of `right` instead.

    >>> r = flow.graph.rule(lambda x, y: flow.log(x * y), lambda x, y: flow.log(x) + flow.log(y),
    ...                     (flow.ones(2), flow.ones(2)))
    >>> g = flow.graph.capture(lambda a, b: flow.log(b * a) * 2, (flow.ones(3), flow.ones(3)))
    >>> g.rewrite(r).report.passes[0].changes
    1

    left: a function of tensors, which is captured; attributes of its calls must be found as they are
    right: a function of the same tensors. It is called for each match: those that are constants of the graph have
        elements, and what it computes of them becomes a constant; others stand for values, as in a capture.
    example_inputs: tensors for the capture of `left`; other shapes and dtypes match, too
    when: a condition, as a function of the tensors that `right` gets
    constants: the names of parameters that must be constants
    error: the largest relative error; with 0, numbers must be equal, and not only nearly equal
    """
    for what, function in (("right", right), ("when", when)):
        if function is not None and not callable(function):
            raise TypeMismatch(f"rule: {what} must be callable, got {type_name(function)}")

    def applied(*tensors: Tensor) -> Tensor | None:
        if when is not None and not when(*tensors):
            return None
        result = right(*tensors)
        if not isinstance(result, Tensor):
            raise TypeMismatch(f"rule: right must return Tensor, got {type_name(result)}")
        return result

    return Rule(name, capture(left, example_inputs), applied, tuple(constants), float(error))


def _size_value(name: str, value: Any) -> int:
    """Returns the value of a named size."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeMismatch(f"cost: {name} must be int, got {type_name(value)}")
    if not -_LARGEST <= value <= _LARGEST:
        raise InvalidArgument(f"cost: {name} does not fit in int64: {value}")
    return value


def _children(nodes: list[tuple[int, int, str | None, int]]) -> list[tuple[int, int, str | None, int]]:
    """Returns the nodes that are items of the first node."""
    children = []
    at = 1
    while at < len(nodes):
        children.append(nodes[at])
        waiting = 1
        while waiting:
            waiting += nodes[at][1] - 1
            at += 1
    return children


def _argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """Returns the names of the first `count` positional parameters, or `input0`, `input1` if they have none."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters: list[inspect.Parameter] = []
    with contextlib.suppress(TypeError, ValueError):  # a function in C may have no signature
        parameters = list(inspect.signature(function).parameters.values())
    names = [each.name for each in parameters if each.kind in kinds]
    return names[:count] if len(names) >= count else [f"input{i}" for i in range(count)]


def _dimensions(dynamic: Any, names: list[str], ranks: list[int]) -> Iterator[tuple[int, int, str]]:
    """Gives the number of an input, a dimension of it and the name of its size for all that vary."""
    if dynamic is None:
        return
    if isinstance(dynamic, str):
        dynamic = [dynamic]
    if not isinstance(dynamic, Mapping):
        if not isinstance(dynamic, set | frozenset | Sequence) or len(dynamic) != 1:
            raise TypeMismatch(
                "capture: dynamic must be one name for the first dimension of all inputs, or a dict of the inputs' "
                f"dimensions, got {dynamic!a}"
            )
        size = next(iter(dynamic))
        yield from ((number, 0, size) for number, rank in enumerate(ranks) if rank > 0)
        return
    for key, dims in dynamic.items():
        if key in names:
            number = names.index(key)
        elif isinstance(key, int) and not isinstance(key, bool) and 0 <= key < len(names):
            number = key
        else:
            raise InvalidArgument(f"capture: dynamic has no input {key!a}; there are {', '.join(names)}")
        if isinstance(dims, str) or not isinstance(dims, Mapping | Sequence):
            raise TypeMismatch(f"capture: dynamic[{key!a}] must be a dict or a list, got {type_name(dims)}")
        for dim, size in dims.items() if isinstance(dims, Mapping) else enumerate(dims):
            if size is not None:
                yield number, dim, size


def _ranges(ranges: Any, sizes: list[str]) -> list[tuple[bytes, int, int, int]]:
    """Returns the name, the minimum, the maximum and the step of each size."""
    if ranges is not None and not isinstance(ranges, Mapping):
        raise TypeMismatch(f"capture: ranges must be dict or None, got {type_name(ranges)}")
    for name in ranges or {}:
        if name not in sizes:
            raise InvalidArgument(f"capture: ranges has {name!a}, which no dimension has in dynamic")
    found = []
    for size in sizes:
        values = (ranges or {}).get(size, range(1, _LARGEST + 1))
        if not isinstance(values, range) or values.step < 1 or not values:
            raise TypeMismatch(f"capture: ranges[{size!a}] must be a range that is not empty, got {values!a}")
        found.append((encoded_text("capture", "a size", size), values[0], min(values[-1], _LARGEST), values.step))
    return found


def capture(
    function: Callable[..., Any],
    example_inputs: Any,
    *,
    dynamic: Dynamic | None = None,
    ranges: Mapping[str, range] | None = None,
    weights: Mapping[str, Any] | None = None,
) -> Graph:
    """Captures a function of tensors as a graph. The function is called, but nothing is computed but shapes.

        >>> g = flow.graph.capture(lambda x, y: x @ y, (flow.ones(2, 3), flow.ones(3, 4)),
        ...                        dynamic={"x": ["rows", None], "y": {1: "columns"}})
        >>> g(flow.ones(5, 3), flow.ones(3, 1)).shape
        (5, 1)

        function: takes tensors, or nested dictionaries and lists of them, and returns such
        example_inputs: a tuple or a list of its arguments, or its only argument; their elements are not read
        dynamic: which sizes vary: one name for the first dimension of all inputs, or for each input (by its name or
            its number) its dimensions by their numbers or in a list, each with the name of its size. The function is
            then called several times with different sizes.
        ranges: the values that sizes can have, by their names; all from 1 on where there is none
        weights: names for tensors that the function uses; nested names are joined. Others are called `constant`.

    Tensors that the function uses and that are no inputs become constants. What it writes to, inputs or others, the
    graph copies instead; the new tensors are `Graph.states`. Random operators draw new numbers in each run.

    Raises Unsupported, with the line, where the function reads elements of a tensor that depends on its inputs, and
    InvalidArgument if it does other things for other sizes.
    """
    if not callable(function):
        raise TypeMismatch(f"capture: function must be callable, got {type_name(function)}")
    is_list = isinstance(example_inputs, tuple | list)
    arguments = list(example_inputs) if is_list else [example_inputs]
    names = _argument_names(function, len(arguments))
    examples = dict(zip(names, arguments, strict=True))
    nodes = nodes_of("capture", examples, what="example_inputs")
    tensors = [tensor for *_, tensor in nodes if tensor is not None]
    joined = [name for name, _ in _named_tensors(examples, "")]
    places = list(_dimensions(dynamic, joined, [tensor.ndim for tensor in tensors]))
    sizes: list[str] = []
    for _, dim, size in places:
        if not isinstance(size, str) or isinstance(dim, bool) or not isinstance(dim, int):
            raise TypeMismatch(f"capture: dynamic must give names of sizes by dimension, got {size!a} for {dim!a}")
        if size not in sizes:
            sizes.append(size)
    numbered = [(number, dim, sizes.index(size)) for number, dim, size in places]
    running = native._start_capture(nodes, _ranges(ranges, sizes), numbered)
    if weights is not None:
        if not isinstance(weights, Mapping):
            raise TypeMismatch(f"capture: weights must be dict or None, got {type_name(weights)}")
        for name, tensor in _named_tensors(weights, ""):
            running.name(tensor, encoded_text("capture", "a name", name))
    layout = [(kind, count, key if key is None else key.decode(), 0) for kind, count, key, _ in nodes]
    while (inputs := running.begin()) is not None:
        try:
            values = restored(iter(layout), iter(inputs))
            running.end(nodes_of("capture", function(*values.values()), what="the result"))
        except BaseException:
            running.cancel()
            raise
    return Graph(native._finish_capture(running))


def _named_tensors(data: Any, prefix: str) -> Iterator[tuple[str, Tensor]]:
    """Gives the tensors of nested data with their joined names."""
    if isinstance(data, Tensor):
        yield prefix, data
        return
    if not isinstance(data, Mapping | list | tuple):
        raise TypeMismatch(f"capture: an item of weights must be Tensor, dict, list or tuple, got {type_name(data)}")
    for key, item in data.items() if isinstance(data, Mapping) else enumerate(data):
        yield from _named_tensors(item, f"{prefix}.{key}" if prefix else str(key))


def load(path: str | bytes | os.PathLike[Any], *, verify: bool = False, mmap: bool = False) -> Graph:
    """Loads a graph that `Graph.save` has written.

        verify: compares the constants with their checksum
        mmap: whether constants on the host share the memory of the file; see `load` of tensors

    Raises FileError if the file cannot be read, and InvalidArgument if it is malformed, damaged, or of another version.
    """
    for name, flag in (("verify", verify), ("mmap", mmap)):
        if not isinstance(flag, bool):
            raise TypeMismatch(f"load: {name} must be bool, got {type_name(flag)}")
    return Graph(native._load_graph(encoded_path("load", path), verify, mmap))
