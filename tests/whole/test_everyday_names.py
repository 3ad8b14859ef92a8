"""Tests that every language offers the functions of tests/everyday_names.txt: what users of PyTorch and NumPy type
first. Overloads, aliases, in-place forms of these functions and parts of other functions do not count."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIST = ROOT / "tests" / "everyday_names.txt"
NAMES = LIST.read_text().split()

# Each program prints the names of the file that its language does not offer, by the case rules of the language: a
# reserved word gets a trailing underscore in JavaScript, and a name that ends in one gets an exclamation mark in Ruby.
PROGRAMS = {
    "python": [
        str(ROOT / ".venv" / "bin" / "python"),
        "-c",
        "import functools, sys, oneflow_py as flow\n"
        "for name in open(sys.argv[1]).read().split():\n"
        "    try: assert callable(functools.reduce(getattr, name.split('.'), flow))\n"
        "    except (AttributeError, AssertionError): print(name)",
    ],
    "js": [
        "node",
        "-e",
        "const flow = require('oneflow-js');"
        "const camel = (name) => name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter) => letter.toUpperCase());"
        "for (const name of require('fs').readFileSync(process.argv[1], 'utf8').trim().split('\\n')) {"
        "  const parts = name.split('.').map(camel), leaf = parts.pop();"
        "  const space = parts.reduce((found, part) => found?.[part], flow);"
        "  if (typeof (space?.[leaf] ?? space?.[leaf + '_']) !== 'function') console.log(name);"
        "}",
    ],
    "ruby": [
        "ruby",
        f"-I{ROOT / 'bindings' / 'ruby' / 'lib'}",
        "-e",
        "require 'oneflow'\n"
        "File.read(ARGV[0]).split.each do |name|\n"
        "  *parts, leaf = name.split('.')\n"
        "  space = parts.reduce(OneFlow) do |found, part|\n"
        "    constant = found&.constants&.find { |each| each.to_s.downcase == part }\n"
        "    constant && found.const_get(constant)\n"
        "  end\n"
        "  puts name unless space&.respond_to?(leaf.sub(/_\\z/, '!'))\n"
        "end",
    ],
}


def test_the_list_is_long_and_has_no_name_twice() -> None:
    assert len(NAMES) >= 300
    assert sorted(set(NAMES)) == NAMES


@pytest.mark.parametrize("language", PROGRAMS)
def test_every_language_offers_the_functions(language: str) -> None:
    program = [*PROGRAMS[language], str(LIST)]
    done = subprocess.run(program, cwd=ROOT / "bindings" / "js", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.split()
