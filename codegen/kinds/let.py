"""`let: {name: expression}`: names for parts of the expressions of a record. A part may read those before it."""

from __future__ import annotations

from dataclasses import replace

from codegen.derivative import rewritten
from codegen.expression import Expression, Node, Variable
from codegen.intrinsics import SCALAR
from codegen.reader import Fields
from codegen.signature import NAME
from codegen.types import Signature


class Let:
    """The parts that a record names, while its expressions are read."""

    def __init__(self, fields: Fields, signature: Signature | None) -> None:
        """Reads the key `let`. Reports names that mean something else."""
        self.parts: dict[str, Expression] = {}  # with the parts that they read in place of names
        self._used: set[str] = set()
        field = fields.take("let")
        self._named = field.fields if field else None
        if not self._named:
            return
        for name, key in self._named.keys.items():
            with fields.report.collecting():
                key.name(NAME)
                if name in SCALAR or (signature and signature.argument(name)):
                    raise key.bad(f"'{name}' is {'a function' if name in SCALAR else 'an argument'}")
        for name, part in self._named.other_expressions().items():
            self.parts[name] = self.whole(part)

    def whole(self, expression: Expression) -> Expression:
        """Returns an expression with parts in place of their names, which its text keeps."""
        self._used |= expression.names & self.parts.keys()

        def part(node: Node) -> Node:
            if isinstance(node, Variable) and node.name in self.parts:
                return replace(self.parts[node.name].root, at=node.at)
            return node

        return replace(expression, root=rewritten(expression.root, part)) if self.parts else expression

    def finish(self) -> None:
        """Reports names that no expression reads."""
        for name in self.parts.keys() - self._used:
            assert self._named
            problem = self._named.keys[name].bad(f"no expression reads '{name}'").problem
            self._named.report.problems.append(problem)
