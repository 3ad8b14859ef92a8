"""The kinds of operators: one module each, with a class that answers for everything that depends on the kind."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.kinds.collective import Collective
from codegen.kinds.composite import Composite
from codegen.kinds.contraction import Contraction
from codegen.kinds.elementwise import Elementwise
from codegen.kinds.gather import Gather
from codegen.kinds.generator import Generator
from codegen.kinds.kind import Kind
from codegen.kinds.native import Native
from codegen.kinds.reduction import Reduction
from codegen.kinds.scan import Scan
from codegen.kinds.view import View

_ALL: tuple[type[Kind], ...] = (
    Elementwise, Generator, Contraction, Reduction, Scan, Gather, View, Composite, Native, Collective,
)  # fmt: skip
KINDS: Mapping[str, type[Kind]] = {kind.key: kind for kind in _ALL}
