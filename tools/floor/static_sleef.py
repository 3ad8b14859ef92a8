"""Makes a static library of SLEEF's deterministic functions from a shared one.

Usage: python -m tools.floor.static_sleef SHARED-LIBRARY ARCHIVE

Distributions have SLEEF as a shared library only. In a package it would be a second library, with 3,600 public names,
six times as large as the functions that are used. The functions for vectors are simple: they read constants of the
section .rodata, and call nothing but each other and what reports a broken stack. So each is written as assembly, with
its bytes, and with a symbol in place of each address outside of it. The linker keeps those that are called.

Only for x86-64, whose instructions are disassembled by objdump. A function that reads anything else is left out.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.floor.command import run

# The functions whose result for an element does not depend on the other elements of its vector, for the instruction
# sets of the CPU backend.
WANTED = re.compile(r"Sleef_(cinz|finz)_\w+(sse4|avx2|avx512f)")
CONSTANTS = "sleef_constants"
STACK_CHECK = "__stack_chk_fail"


@dataclass(frozen=True)
class Function:
    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Instruction:
    """A machine instruction. `target` is the address outside of the function that it reads, calls or jumps to."""

    start: int
    code: bytes
    target: int | None
    callee: str | None  # in another library
    is_call: bool

    @property
    def end(self) -> int:
        return self.start + len(self.code)

    def refer_to(self, address: str) -> str:
        """Returns the instruction as assembly with a target of that name."""
        assert self.target is not None
        distance = (self.target - self.end).to_bytes(4, "little", signed=True)  # counted from the end
        before, *after = self.code.split(distance)
        if len(after) != 1:
            raise ValueError(f"{self.code.hex(' ')} at {self.start:#x}: the distance to {self.target:#x} is not clear")
        return f"{as_bytes(before)}.long {address}-.-{4 + len(after[0])}\n{as_bytes(after[0])}"


def as_bytes(code: bytes) -> str:
    return f".byte {','.join(map(str, code))}\n" if code else ""


def functions_of(library: Path) -> list[Function]:
    """Returns the public functions in the order of their addresses."""
    line = re.compile(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +GLOBAL DEFAULT +\d+ (\w+)", re.MULTILINE)
    symbols = {
        name: (int(start, 16), int(size))
        for start, size, name in line.findall(run("readelf", "-W", "--dyn-syms", library))
    }
    functions = [Function(name, start, start + size) for name, (start, size) in symbols.items()]
    return sorted(functions, key=lambda function: (function.start, function.name))


def section(library: Path, name: str) -> tuple[int, bytes]:
    """Returns the address and the content of a section."""
    line = re.compile(rf"^ *\[ *\d+\] {re.escape(name)} +PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", re.MULTILINE)
    address, offset, size = (int(number, 16) for number in line.findall(run("readelf", "-W", "-S", library))[0])
    return address, library.read_bytes()[offset : offset + size]


def instructions(library: Path) -> dict[int, Instruction]:
    """Returns the instructions of a library by their addresses."""
    line = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(.*)$", re.MULTILINE)
    found = {}
    for address, code, text in line.findall(run("objdump", "-d", "--wide", "--show-raw-insn", library)):
        # Either `vmulps 0x1f(%rip),%ymm0,%ymm1  # 1bb040 <…>`, or `call 40030 <__stack_chk_fail@plt>`.
        target = re.search(r"# ([0-9a-f]+) <|^(?:call|j\w+) +([0-9a-f]+) <", text)
        callee = re.search(r"^call +[0-9a-f]+ <(\w+)@plt>", text)
        start = int(address, 16)
        found[start] = Instruction(
            start,
            bytes.fromhex(code),
            int(target[1] or target[2], 16) if target else None,
            callee[1] if callee else None,
            text.startswith("call "),
        )
    return found


class Extract:
    """The functions that are taken out of a library, with those that they call."""

    def __init__(self, library: Path) -> None:
        self.public = functions_of(library)
        self.code = instructions(library)
        start, self.constants = section(library, ".rodata")
        self.constant_addresses = range(start, start + len(self.constants))

    def assembly(self) -> Iterator[str]:
        """Yields the constants, the definitions of all wanted functions, and of the private ones that they call."""
        yield '.section .note.GNU-stack,"",@progbits\n'
        yield f".section .rodata\n.p2align 6\n{CONSTANTS}:\n{as_bytes(self.constants)}"
        private: dict[int, Function] = {}
        for function in self.public:
            if WANTED.fullmatch(function.name):
                yield from self.definition(function, private)
        done: set[int] = set()
        while missing := private.keys() - done:
            for start in sorted(missing):
                done.add(start)
                yield from self.definition(private[start], private)

    def definition(self, function: Function, private: dict[int, Function]) -> Iterator[str]:
        """Yields the definition of a function, and adds private functions that it calls to `private`.

        Yields nothing if the function needs more than constants, private functions, and the report of a broken stack.
        """
        lines = [
            f'.section .text.{function.name},"ax",@progbits\n.p2align 6\n.globl {function.name}\n'
            f".hidden {function.name}\n.type {function.name},@function\n{function.name}:\n"
        ]
        called = []
        position = function.start
        while position < function.end:
            instruction = self.code[position]
            position = instruction.end
            target = instruction.target
            if target is None or function.start <= target < function.end:
                lines.append(as_bytes(instruction.code))
            elif target in self.constant_addresses:
                lines.append(instruction.refer_to(f"{CONSTANTS}+{target - self.constant_addresses.start}"))
            elif instruction.callee == STACK_CHECK:
                lines.append(f"call {STACK_CHECK}@PLT\n")
            elif instruction.callee is None and instruction.is_call:
                called.append(self.private_function(target))
                lines.append(instruction.refer_to(called[-1].name))
            else:
                return
        private.update((callee.start, callee) for callee in called)
        yield "".join(lines) + f".size {function.name},.-{function.name}\n"

    def private_function(self, start: int) -> Function:
        """Returns the function without a symbol that begins at an address; it ends where the next public one begins."""
        return Function(f"sleef_{start:x}", start, min(each.start for each in self.public if each.start > start))


def main(library: Path, archive: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = Path(folder) / "sleef.s", Path(folder) / "sleef.o"
        source.write_text("".join(Extract(library).assembly()), encoding="utf-8")
        run("as", "-o", compiled, source)
        archive.unlink(missing_ok=True)
        run("ar", "rcsD", archive, compiled)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
