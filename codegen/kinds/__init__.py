"""The kinds of operators: one module each, which reads the kind's key of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from codegen.kinds import composite, contraction, elementwise, gather, generator, native, reduction, scan, view
from codegen.model import Kind
from codegen.reader import Field

READERS: Mapping[str, Callable[[Field], Kind]] = {
    "elementwise": elementwise.read,
    "generator": generator.read,
    "contraction": contraction.read,
    "reduction": reduction.read,
    "scan": scan.read,
    "gather": gather.read,
    "view": view.read,
    "composite": composite.read,
    "native": native.read,
}
