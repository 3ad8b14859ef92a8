"""What compiles extensions: native modules of users, written with <oneflow/pybind11.h>.

>>> import oneflow_py as flow
>>> setuptools.Extension(
...     "twice",
...     ["twice.cpp"],
...     include_dirs=[flow.get_include(), pybind11.get_include()],
...     extra_objects=[flow.get_library()],
... )
"""

from __future__ import annotations

from pathlib import Path

from oneflow_py import _native as native


def get_include() -> str:
    """Returns the folder of the header files, for the compiler's option -I."""
    return str(Path(__file__).parent / "include")


def get_library() -> str:
    """Returns the file of liboneflow, which extensions are linked against.

    They need no search path for it: they find the library that `import oneflow_py` has loaded before.
    """
    return native._library_path


FUNCTIONS = (get_include, get_library)
