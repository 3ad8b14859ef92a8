"""Errors for the names of other libraries, which say the names here.

>>> import oneflow_py as flow
>>> flow.array([1, 2])
Traceback (most recent call last):
AttributeError: module 'oneflow_py' has no attribute 'array'; here it is called tensor
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from oneflow_py import _native as native


class _Name:
    """A method of another library. To read it raises an AttributeError, so that `hasattr` says that there is none."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        text = f"'Tensor' object has no attribute '{self._name}'; {self._text}"
        raise AttributeError(text, name=self._name, obj=instance)


def _install_in_module(module: ModuleType, texts: Mapping[str, str]) -> None:
    def missing(name: str) -> NoReturn:
        text = f"module '{module.__name__}' has no attribute '{name}'"
        raise AttributeError(f"{text}; {texts[name]}" if name in texts else text, name=name, obj=module)

    vars(module)["__getattr__"] = missing  # which Python calls for names that the module lacks


def install(package: ModuleType, tensor: Any) -> None:
    """Makes the package, its namespaces and the class of tensors say the names here."""
    spaces: dict[str, dict[str, str]] = {"": {}}
    for name, text in native._elsewhere(False).items():
        space, _, leaf = name.rpartition(".")
        spaces.setdefault(space, {})[leaf] = text
    for space, texts in spaces.items():
        _install_in_module(getattr(package, space) if space else package, texts)
    methods = {name: text for name, text in native._elsewhere(True).items() if not hasattr(tensor, name)}
    for name, text in methods.items():
        setattr(tensor, name, _Name(name, text))
    tensor.__dir__ = lambda self: [name for name in object.__dir__(self) if name not in methods]
