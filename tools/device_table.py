"""Writes the table of docs/devices.md: the operators that each device runs, and those that fall back to the CPU.

python tools/device_table.py            writes the table between the markers in docs/devices.md
python tools/device_table.py --kernels  lists the kernels that each device must have: device, name, schema hash, dtype
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from codegen import discover, load  # noqa: E402
from codegen.definitions import Definitions  # noqa: E402
from codegen.grid.printing import GridPrinter  # noqa: E402
from codegen.kernels import SPELLED  # noqa: E402
from codegen.kinds import KINDS  # noqa: E402
from codegen.model import Op  # noqa: E402

PAGE = ROOT / "docs" / "devices.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
# The file that lists a backend's kernels for `native` records; grid devices share the one in GRID.
HAND_WRITTEN = {"cpu": "runtime/devices/cpu/plugin/kernel_table.cpp"}
GRID = "runtime/devices/grid/find_kernel.cpp"
_DTYPES = {spelled: name for name, spelled in SPELLED.items()}


@dataclass(frozen=True)
class Device:
    name: str
    by_hand: frozenset[str]  # the `native` records that it has a kernel for


def definitions() -> Definitions:
    return load.load(sorted((ROOT / "opdefs").glob("*.yaml")), ROOT)


def by_hand(source: str) -> frozenset[str]:
    """Returns the names in a backend's table of `native` kernels."""
    text = (ROOT / source).read_text(encoding="utf-8")
    table = re.search(r"kNative(?:s|Kernels)\[\] = \{(.*?)\};", text, re.DOTALL)
    assert table, f"{source} has no table of native kernels"
    return frozenset(re.findall(r'\{"(\w+)"', table[1]))


def devices(found: Definitions) -> list[Device]:
    names = [n for n in discover.names() if (ROOT / "runtime" / "devices" / n).is_dir()]
    return [Device(name, by_hand(HAND_WRITTEN.get(name, GRID))) for name in names]


def needing(found: Definitions) -> list[Op]:
    """Returns the operators that need a kernel of the device. Views, copies and composites need none."""
    hand_written = frozenset().union(*(device.by_hand for device in devices(found)))
    return [
        op
        for op in found.ops
        if op.kind.has_device_function
        or (op.kind.has_kernel_by_hand and op.full_name in hand_written)
        or any(True for _ in op.kind.kernels(op, GridPrinter))
    ]


def is_native(device: Device, op: Op) -> bool:
    return not op.kind.has_kernel_by_hand or op.full_name in device.by_hand


def table(found: Definitions) -> str:
    ops, lines = needing(found), []
    kinds = [kind for kind in KINDS if any(op.kind.key == kind for op in ops)]
    heads = ["device", *kinds, "all", "fall back to the CPU"]
    lines += [f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    missing = []
    for device in devices(found):
        own = [op for op in ops if is_native(device, op)]
        counts = [sum(op.kind.key == kind for op in own) for kind in kinds]
        lines.append(f"| `{device.name}` | {' | '.join(map(str, [*counts, len(own), len(ops) - len(own)]))} |")
        for op in ops:
            if not is_native(device, op):
                text = "its hand-written kernel does not exist yet"
                missing.append(f"- `{op.full_name}` on `{device.name}`: {text}")
    return "\n".join([*lines, "", *(missing or ["No operator falls back to the CPU."])])


def page(text: str, found: Definitions) -> str:
    """Returns the text of the page with an up-to-date table."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{table(found)}\n{END}{tail}"


def promised(found: Definitions) -> Iterator[tuple[str, str, int, str]]:
    """Yields each kernel that a device must have: device, name, schema hash, compute type ("" for all types)."""
    for device in devices(found):
        for op in needing(found):
            if op.kind.has_device_function or not is_native(device, op):
                continue
            if op.kind.has_kernel_by_hand:
                yield device.name, op.full_name, op.kernel_id, ""
            for kernel in op.kind.kernels(op, GridPrinter):
                for type_ in [_DTYPES[spelled] for spelled in kernel.types] or [""]:
                    yield device.name, kernel.variant, op.kernel_id, type_


def main() -> None:
    found = definitions()
    if sys.argv[1:] == ["--kernels"]:
        for row in promised(found):
            print(*row)
    else:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
