"""The rows of the extension's function table (bindings/python/src/calls/function_table.h)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from codegen.definitions import Function
from codegen.model import Op
from codegen.names import identifier
from codegen.printer import boolean, string
from codegen.targets.python import words
from codegen.targets.python.documentation import help_text

STARTS = "Begins a call of `{}` and returns a handle, whose `wait()` gives the result."


@dataclass(frozen=True)
class PythonFunction:
    """A public function in Python."""

    function: Function
    public: Callable[[str], str]  # returns the public name of a function
    is_attribute: bool  # whether tensors have an attribute instead of a method

    @property
    def name(self) -> str:
        """Returns the public name without the namespace."""
        return self.public(self.function.name).rpartition(".")[2]

    @property
    def documentation(self) -> str:
        """Returns the docstring."""
        if self.function.starts:
            return STARTS.format(self.name.removesuffix("_async"))
        return help_text(self.public(self.function.name), self.overloads, self.public)

    @property
    def signature(self) -> str:
        """Returns the signature for inspect.signature()."""
        return _signature(self.overloads, "")

    @property
    def module(self) -> str:
        """Returns the namespace, or an empty string."""
        return self.function.namespace or ""

    @property
    def overloads(self) -> tuple[Op, ...]:
        """Returns the overloads in the order in which a call tries them."""
        return self.function.overloads

    @property
    def methods(self) -> tuple[Op, ...]:
        """Returns the overloads that are methods, too."""
        return self.function.method_overloads

    @property
    def in_place_overloads(self) -> tuple[Op, ...]:
        """Returns the overloads with an in-place form, which is a method if the operator has a receiver."""
        return self.function.in_place_overloads

    @property
    def in_place(self) -> str | None:
        """Returns the name of the in-place form, or None."""
        return f"{self.name}_" if self.in_place_overloads else None

    @property
    def variable(self) -> str:
        """Returns the name of the array of overloads."""
        return f"{identifier(self.function.name)}_overloads"

    @property
    def row(self) -> str:
        """Returns the initializer of a FunctionRecord, up to its documentation."""
        texts = (
            _signature(self.overloads, ""),
            _signature(self.methods, "$self"),
            _signature(self.in_place_overloads, "$self" if self.methods else "", has_out=False),
        )
        names = map(string, (self._full(self.name), self._full(self.in_place)))
        count = len(self.overloads)
        flags = (self.function.takes_equation, self.function.starts)
        function = ", ".join((*names, self.variable, str(count), *map(boolean, flags)))
        return ", ".join(
            (
                f"{{{function}}}",
                string(self.module),
                string(self.name),
                string(self.in_place),
                boolean(bool(self.methods)),
                boolean(self.is_attribute),
                *map(string, texts),
            )
        )

    def _full(self, name: str | None) -> str | None:
        """Returns a name with that of the module: `comm.local.all_reduce`."""
        return f"{self.module}.{name}" if name and self.module else name


def _signature(overloads: tuple[Op, ...], receiver: str, *, has_out: bool = True) -> str:
    """Returns the signature for inspect.signature(), which several overloads share."""
    if len(overloads) != 1:
        return f"({receiver}, *args, **kwargs)" if receiver else "(*args, **kwargs)"
    op = overloads[0]
    arguments = words.without_receiver(op) if receiver else op.signature.arguments
    parameters = words.plain_parameters(op, arguments, has_out and op.has_out)
    return f"({', '.join(filter(None, (receiver, parameters)))})"
