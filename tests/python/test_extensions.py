"""Tests modules that users write with <oneflow/pybind11.h>.

They are compiled against the headers and the library that the package names."""

from __future__ import annotations

import gc
import importlib.util
import os
import subprocess
import sys
import sysconfig
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pybind11
import pytest

import oneflow_py as flow

HERE = Path(__file__).parent
# The environment variable with further options of the compiler.
OPTIONS = "ONEFLOW_EXTENSION_OPTIONS"


def compile_extension(folder: Path, *options: str) -> Path:
    """Compiles extension.cpp into a folder, and returns the path of the module."""
    path = folder / f"extension{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = [f"-I{each}" for each in (flow.get_include(), pybind11.get_include(), sysconfig.get_path("include"))]
    shape = ["-std=c++20", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Werror"]
    command = ["ccache", "g++", *shape, *options, *includes, str(HERE / "extension.cpp"), "-c", "-o", f"{path}.o"]
    subprocess.run(command, check=True)
    subprocess.run(["g++", "-shared", *options, f"{path}.o", flow.get_library(), "-o", str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_extension(tmp_path_factory.mktemp("extension"), *os.environ.get(OPTIONS, "").split())


@pytest.fixture(scope="module")
def extension(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location("extension", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_headers_are_complete() -> None:
    names = {path.name for path in (Path(flow.get_include()) / "oneflow").iterdir()}
    assert {"oneflow.h", "oneflow.hpp", "operators.hpp", "extension.h", "extension.hpp", "pybind11.h"} <= names
    assert Path(flow.get_library()).is_file()


# ------------------------------------------------------------------------------------------------ objects


@pytest.mark.parametrize("name", ["same", "moved", "optional"])
def test_tensors_share_memory(extension: ModuleType, name: str) -> None:
    x = flow.arange(4.0)
    y = getattr(extension, name)(x)
    assert type(y) is flow.Tensor
    assert y.data_ptr() == x.data_ptr()
    extension.add(y, 1.0)
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_none_and_empty_tensors(extension: ModuleType) -> None:
    assert extension.empty() is None
    assert extension.optional() is None
    assert extension.optional(None) is None
    with pytest.raises(flow.TypeMismatch, match=r"^same: input must be Tensor, got None$"):
        extension.same(None)


def test_lists(extension: ModuleType) -> None:
    x, y = flow.zeros(1), flow.ones(2)
    assert [each.tolist() for each in extension.reversed([x, y])] == [[1.0, 1.0], [0.0]]
    assert [each.tolist() for each in extension.reversed((x,))] == [[0.0]]
    assert extension.reversed([]) == []
    with pytest.raises(flow.TypeMismatch, match=r"^reversed: tensors\[1\] must be Tensor, got float$"):
        extension.reversed([x, 2.5])


def test_devices(extension: ModuleType) -> None:
    assert extension.device("cpu") is flow.device("cpu:0")
    assert extension.device(flow.device("cpu")) is flow.device("cpu:0")
    with pytest.raises(flow.TypeMismatch, match=r"^device: device must be device, got int$"):
        extension.device(1)
    with pytest.raises(flow.DeviceError, match=r"^device: .*nothing"):
        extension.device("nothing")


def test_dtypes(extension: ModuleType) -> None:
    assert extension.dtype("int16") is flow.int16
    assert extension.dtype(flow.float64) is flow.float64
    assert extension.dtype(bool) is flow.bool
    with pytest.raises(flow.TypeMismatch, match=r"^dtype: dtype must be dtype, got list$"):
        extension.dtype([])
    with pytest.raises(flow.InvalidArgument, match=r"^dtype: dtype must be the name of a dtype, got 'float99'$"):
        extension.dtype("float99")


def test_generators(extension: ModuleType) -> None:
    generator = flow.Generator(3)
    same = extension.generator(generator)
    flow.randn(5, generator=same)
    assert generator.get_state() == same.get_state() == (3, 5)
    assert extension.default_generator() is flow.default_generator
    made = extension.new_generator(11)
    assert made.get_state() == (11, 0)
    with pytest.raises(flow.TypeMismatch, match=r"^generator: generator must be Generator, got int$"):
        extension.generator(7)


def test_methods_of_classes(extension: ModuleType) -> None:
    scaler = extension.Scaler(2.0)
    assert scaler.call(flow.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(flow.TypeMismatch, match=r"^call: input must be Tensor, got int$"):
        scaler.call(3)


def test_overloads(extension: ModuleType) -> None:
    assert extension.overloaded(flow.ones(1)) == "tensor"
    assert extension.overloaded(2) == "number"
    with pytest.raises(TypeError, match=r"incompatible function arguments"):
        extension.overloaded("x")


def test_arguments_without_names(extension: ModuleType) -> None:
    with pytest.raises(flow.TypeMismatch, match=r"^unnamed: arg1 must be Tensor, got str$"):
        extension.unnamed(flow.zeros(1), "x")
    with pytest.raises(flow.TypeMismatch, match=r"^unnamed: arg0 must be Tensor, got str$"):
        extension.unnamed("x", "y")


def test_what_is_no_tensor_is_left_to_pybind11(extension: ModuleType) -> None:
    with pytest.raises(TypeError, match=r"incompatible function arguments"):
        extension.add(flow.zeros(1), "x")
    with pytest.raises(TypeError, match=r"incompatible function arguments"):
        extension.same()
    assert "input: oneflow_py.Tensor" in extension.same.__doc__


# ------------------------------------------------------------------------------------------------ references


def test_references_are_counted(extension: ModuleType) -> None:
    x = flow.zeros(3)
    arguments: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (extension.same, (x,)),
        (extension.moved, (x,)),
        (extension.unnamed, (x, x)),
        (extension.reversed, ([x, x],)),
        (extension.overloaded, (x,)),
        (extension.device, (flow.device("cpu"),)),
        (extension.dtype, (flow.int8,)),
        (extension.generator, (flow.default_generator,)),
        (extension.empty, ()),
    ]
    objects = [x, flow.device("cpu:0"), flow.int8, flow.default_generator]
    for function, given in arguments:
        before = [sys.getrefcount(each) for each in objects]
        for _ in range(100):
            function(*given)
        assert [sys.getrefcount(each) for each in objects] == before, function


def test_errors_keep_no_references(extension: ModuleType) -> None:
    class Wrong:
        pass

    wrong = Wrong()
    reference = weakref.ref(wrong)
    for function in (extension.same, extension.device, extension.dtype, extension.generator, extension.overloaded):
        with pytest.raises(TypeError):
            function(wrong)
    del wrong
    gc.collect()
    assert reference() is None


def test_a_result_owns_its_handle(extension: ModuleType) -> None:
    """Foreign memory is released with the last tensor over it, and not before."""
    before = extension.released()
    x = extension.foreign(8)
    views = [extension.same(x), x[2:], extension.reversed([x])[0]]
    reference = weakref.ref(x)
    del x
    assert reference() is None
    assert extension.released() == before
    views.clear()
    assert extension.released() == before + 1


def test_memory_is_released_on_a_foreign_thread(extension: ModuleType) -> None:
    before = extension.released()
    x = extension.foreign(8)
    extension.release_elsewhere(x)
    assert extension.released() == before
    del x
    assert extension.released() == before + 1


# ------------------------------------------------------------------------------------------------ errors


STATUSES = [
    "InvalidArgument", "TypeMismatch", "ShapeError", "DTypeError", "IndexOutOfRange", "DeviceError", "OutOfMemory",
    "Unsupported", "CommunicationError", "InternalError", "FileError",
]  # fmt: skip


@pytest.mark.parametrize(("status", "name"), list(enumerate(STATUSES, 1)))
def test_errors_become_exceptions(extension: ModuleType, status: int, name: str) -> None:
    with pytest.raises(flow.Error, match=r"^fail: on purpose$") as caught:
        extension.fail(status)
    assert type(caught.value) is getattr(flow, name)


def test_errors_of_operators(extension: ModuleType) -> None:
    with pytest.raises(flow.DTypeError, match=r"^add: result of type float32 "):
        extension.add(flow.tensor([1], dtype="bool"), 0.5)


def test_exceptions_of_callbacks_stay_what_they_are(extension: ModuleType) -> None:
    class Own(flow.ShapeError):
        pass

    for error in (flow.ShapeError("one"), Own("two"), KeyError("three"), KeyboardInterrupt()):

        def fail(_: flow.Tensor, error: BaseException = error) -> flow.Tensor:
            raise error

        with pytest.raises(type(error)) as caught:
            extension.call(fail, flow.zeros(1))
        assert caught.value is error
    assert extension.call(lambda x: x + 1, flow.zeros(1)).tolist() == [1.0]
    with pytest.raises(RuntimeError, match=r"cast"):
        extension.call(lambda _: "x", flow.zeros(1))


def test_an_older_front_end_is_refused(extension: ModuleType) -> None:
    with pytest.raises(flow.Unsupported, match=r"^this extension was built for a later version of oneflow_py than "):
        extension.accept_older()


def in_process(path: Path, program: str) -> subprocess.CompletedProcess[str]:
    setup = f"import sys; sys.path[:0] = [{str(path.parent)!r}, {str(Path(flow.__file__).parents[1])!r}]\n"
    command = [sys.executable, "-c", setup + program]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_without_the_package_it_cannot_be_loaded(path: Path) -> None:
    done = in_process(path, "import extension")
    assert done.returncode == 1
    assert "ImportError: liboneflow.so" in done.stderr


# ------------------------------------------------------------------------------------------------ threads


def test_threads(extension: ModuleType) -> None:
    tensors = [flow.full([500, 100], float(i % 3)) for i in range(64)]
    with ThreadPoolExecutor(8) as pool:
        sums = [each.item() for each in pool.map(extension.unlocked, tensors)]
    assert sums == pytest.approx([each.exp().sum().item() for each in tensors])
    with pytest.raises(flow.TypeMismatch, match=r"^unlocked: input must be Tensor, got str$"):
        extension.unlocked("x")


# pybind11 locks up where it is loaded into a subinterpreter of Python 3.11, so that packages import oneflow_py first.
SUBINTERPRETER = """
import oneflow_py, extension
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
try:
    program = f"import sys; sys.path[:] = {sys.path}; import oneflow_py, extension"
    print(interpreters.run_string(interpreters.create(), program))
except Exception as error:
    print(error)
print(extension.same(oneflow_py.ones(1)).tolist())
"""


def test_a_subinterpreter_gets_an_error(path: Path) -> None:
    done = in_process(path, SUBINTERPRETER)
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert "ImportError" in first
    assert last == "[1.0]"


def test_under_the_address_sanitizer() -> None:
    """Runs the tests above that stay in this process."""
    libraries = ("libasan.so", "libstdc++.so")  # the second one throws what the first one intercepts
    found = [subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip() for name in libraries]
    settings = {
        "LD_PRELOAD": " ".join(found),
        "ASAN_OPTIONS": "detect_leaks=0",  # of Python
        "PYTHONMALLOC": "malloc",
        OPTIONS: "-fsanitize=address -g",
    }
    chosen = "not subinterpreter and not loaded and not sanitizer"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, __file__]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
