"""Writes libraries to link against, so that what is linked runs with older versions of the C library.

Usage: python -m tools.floor.make_floor DIRECTORY

A program that is linked on a new system asks for the newest version of each symbol: of exp@GLIBC_2.29 and
exp@GLIBC_2.2.5, which this system's libm both has, it takes the first, and older systems refuse it. For each library in
LIBRARIES this writes a stub with the same symbols, each in its newest version that is not above the floor, and nothing
behind them. With them are replacements for the functions of which no version is old enough (shims). DIRECTORY/flags has
the options of the linker that put the stubs in front of the system's own libraries.

The C++ library becomes part of each binary, and libgcc_s does not: all unwinding in a process stays in one library.
"""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.floor import static_sleef
from tools.floor.command import run

HERE = Path(__file__).resolve().parent

# The newest versions of symbols that binaries may need: those of glibc 2.28 and GCC 8, the floor of manylinux_2_28.
FLOORS = {"GLIBC": (2, 28), "GCC": (8, 0, 0)}
# The libraries with symbols, and those that older systems have beside them, whose symbols the C library now has itself.
LIBRARIES = ("libc.so.6", "libm.so.6", "libgcc_s.so.1")
FORMER_LIBRARIES = ("libpthread.so.0", "libdl.so.2", "librt.so.1")
COMPILE = ("cc", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class Symbol:
    """A symbol of a shared library."""

    name: str
    version: tuple[int, ...]
    prefix: str  # GLIBC in GLIBC_2.28
    kind: str  # FUNC, IFUNC, OBJECT or TLS
    size: int

    @property
    def version_name(self) -> str:
        return f"{self.prefix}_{'.'.join(map(str, self.version))}"

    def assembly(self, label: str) -> str:
        """Returns the definition of the symbol in a stub."""
        kind = {"OBJECT": "object", "TLS": "tls_object"}.get(self.kind, "function")
        section = {"object": ".data", "tls_object": '.section .tdata,"awT"'}.get(kind, ".text")
        size = max(self.size, 1)
        return (
            f"{section}\n.globl {label}\n.type {label}, %{kind}\n.size {label}, {size}\n{label}: .skip {size}\n"
            f".symver {label}, {self.name}@@{self.version_name}, remove\n"
        )


def path_of(library: str) -> Path:
    """Returns where the compiler finds a file of the system's libraries."""
    return Path(run("cc", f"-print-file-name={library}").strip()).resolve()


def needed_libraries(library: Path) -> list[str]:
    """Returns the names of the libraries that a binary loads."""
    return re.findall(r"\(NEEDED\) .*\[(.+)\]", run("readelf", "--wide", "--dynamic", library))


def versioned_symbols(library: Path) -> list[Symbol]:
    """Returns the defined symbols of a library whose version is a number."""
    line = re.compile(
        r"^\s*\d+: [0-9a-f]+ +(?P<size>\w+) (?P<kind>FUNC|IFUNC|OBJECT|TLS) +(?:GLOBAL|WEAK) +DEFAULT +\d+ "
        r"(?P<name>[\w.]+)@@?(?P<prefix>[A-Z]+)_(?P<version>[\d.]+)$",
        re.MULTILINE,
    )
    return [
        Symbol(
            found["name"],
            tuple(map(int, found["version"].split("."))),
            found["prefix"],
            found["kind"],
            int(found["size"], 0),
        )
        for found in line.finditer(run("readelf", "--wide", "--dyn-syms", library))
    ]


def below_floor(symbols: list[Symbol]) -> list[Symbol]:
    """Returns each symbol once, in its newest version that the floor has."""
    chosen: dict[str, Symbol] = {}
    for symbol in symbols:
        if symbol.prefix in FLOORS and symbol.version <= FLOORS[symbol.prefix]:
            known = chosen.get(symbol.name)
            if known is None or known.version < symbol.version:
                chosen[symbol.name] = symbol
    return list(chosen.values())


def write_stub(name: str, symbols: list[Symbol], directory: Path) -> None:
    """Links a library `name` that has the symbols, without anything behind them."""
    assembly = directory / f"{name}.s"
    assembly.write_text("".join(symbol.assembly(f"stub_{i}") for i, symbol in enumerate(symbols)), encoding="utf-8")
    versions = directory / f"{name}.map"
    names = sorted({symbol.version_name for symbol in symbols})
    versions.write_text("".join(f"{version} {{}};\n" for version in names), encoding="utf-8")
    script = [f"-Wl,--version-script={versions}"] if names else []
    run("cc", "-shared", "-nostdlib", f"-Wl,-soname,{name}", *script, "-o", directory / name, assembly)
    assembly.unlink()
    versions.unlink()


def write_shims(oldest_version: str, directory: Path) -> None:
    """Compiles the replacements, one object each, so that a binary gets those that it needs."""
    archive = directory / "libshims.a"
    archive.unlink(missing_ok=True)
    for source in sorted(HERE.glob("shims/*.c")):
        compiled = directory / f"{source.stem}.o"
        run(*COMPILE, f'-DOLDEST_VERSION="{oldest_version}"', "-c", source, "-o", compiled)
        run("ar", "rcsD", archive, compiled)
        compiled.unlink()


def write_floor(directory: Path) -> None:
    """Writes all stubs, the replacements, and the linker's options."""
    directory.mkdir(parents=True, exist_ok=True)
    loader = next(name for name in needed_libraries(path_of("libc.so.6")) if name.startswith("ld-"))
    found = {name: below_floor(versioned_symbols(path_of(name))) for name in (*LIBRARIES, loader)}
    for name, symbols in (*found.items(), *((name, []) for name in FORMER_LIBRARIES)):
        write_stub(name, symbols, directory)
    write_shims(min(found["libc.so.6"], key=lambda symbol: symbol.version).version_name, directory)
    scripts = {
        "libc.so": f"GROUP ( libshims.a libc.so.6 {path_of('libc_nonshared.a')} AS_NEEDED ( {loader} ) )",
        "libm.so": "INPUT ( libm.so.6 )",
        "libgcc_s.so": "INPUT ( libgcc_s.so.1 -lgcc )",
        **{name.split(".so")[0] + ".so": f"INPUT ( {name} )" for name in FORMER_LIBRARIES},
    }
    for name, script in scripts.items():
        (directory / name).write_text(f"{script}\n", encoding="utf-8")
    if platform.machine() == "x86_64" and path_of("libsleef.so").exists():
        static_sleef.main(path_of("libsleef.so"), directory / "libsleef.a")
    flags = [
        f"-L{directory} -Wl,-rpath-link,{directory}",
        "-static-libstdc++",
        "-Wl,--gc-sections,--exclude-libs,ALL",
        "-Wl,--push-state,--no-as-needed",
        *(f"-l:{name}" for name in FORMER_LIBRARIES),
        "-Wl,--pop-state",
    ]
    (directory / "flags").write_text(" ".join(flags) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_floor(Path(sys.argv[1]).resolve())
