"""The kinds of operators: one module each, which reads, checks and explains the key of its kind in records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codegen.kinds import (
    collective,
    composite,
    contraction,
    elementwise,
    gather,
    generator,
    native,
    reduction,
    scan,
    view,
)
from codegen.kinds.base import Rules

KINDS: Mapping[str, Rules[Any]] = {
    "elementwise": elementwise.RULES,
    "generator": generator.RULES,
    "contraction": contraction.RULES,
    "reduction": reduction.RULES,
    "scan": scan.RULES,
    "gather": gather.RULES,
    "view": view.RULES,
    "composite": composite.RULES,
    "native": native.RULES,
    "collective": collective.RULES,
}
