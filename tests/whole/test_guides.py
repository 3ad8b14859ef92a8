"""Tests the guides that add an operator, a kind, an attribute type and a class, which all languages then have.

Follows them in a scratch clone, whose files `make test` generates. `make test-long` compiles it, too: a new type
changes a header that half of the runtime includes.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEVERAL_RESULTS = ROOT / "tests" / "codegen" / "fixtures" / "opdefs" / "several_results.yaml"
FIXTURES = Path(__file__).parent / "fixtures"
EXPECTED = [4.0, 1.5, 4.0, 1.5]
COMPILES = os.environ.get("ONEFLOW_VECTORS") == "all"
compiled = pytest.mark.skipif(not COMPILES, reason="make test-long compiles what the guides add")

PROGRAMS = {
    "python": [
        ".venv/bin/python",
        "-c",
        "import oneflow_py as f; print(f.rsub(f.tensor([1.0, 3.0]), f.tensor([5.0, 4.5])).twice().tolist())",
    ],
    "js": [
        "node",
        "-e",
        "const f = require('oneflow-js');"
        "console.log(JSON.stringify(f.rsub(f.tensor([1, 3]), f.tensor([5, 4.5])).twice().toArray()))",
    ],
    "ruby": [
        "ruby",
        "-Ibindings/ruby/lib",
        "-e",
        "require 'oneflow'; p OneFlow.rsub(OneFlow.tensor([1.0, 3.0]), OneFlow.tensor([5.0, 4.5])).twice.to_a",
    ],
}


def run(command: list[str], where: Path, given: str | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "OF_BUILD"}  # the outer build's folder
    done = subprocess.run(command, cwd=where, input=given, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commit(where: Path, message: str) -> None:
    author = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    run(["git", "add", "--all"], where)
    run(["git", *author, "commit", "-q", "--allow-empty", "-m", message], where)


def follow(clone: Path, name: str) -> None:
    """Does what a guide says, and commits it."""
    guide = (ROOT / "docs" / "guides" / f"add-a-{name}.md").read_text()
    for path, text in re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)```", guide, re.DOTALL | re.MULTILINE):
        (clone / path).write_text(text)
    for diff in re.findall(r"^```diff\n(.*?)```", guide, re.DOTALL | re.MULTILINE):
        run(["git", "apply", "-"], clone, diff)
    commit(clone, f"a {name}")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a clone of this checkout, including uncommitted changes, with what the guides add."""
    clone = tmp_path_factory.mktemp("clone") / "oneflow"
    run(["git", "clone", "-q", str(ROOT), str(clone)], ROOT)
    for name in run(["git", "ls-files", "--modified", "--others", "--exclude-standard"], ROOT).split("\n"):
        if name and (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    commit(clone, "uncommitted changes")

    follow(clone, "type")
    follow(clone, "kind")
    follow(clone, "class")
    shutil.copy(FIXTURES / "walk.yaml", clone / "opdefs" / "classes")
    for name in ("walk.h", "walk.cpp"):
        shutil.copy(FIXTURES / name, clone / "runtime" / "objects")
    commit(clone, "a class whose methods are overridden")

    guide = (ROOT / "docs" / "guides" / "add-an-operator.md").read_text()
    record = re.search(r"```yaml\n(.*?)```", guide, re.DOTALL)
    assert record
    with (clone / "opdefs" / "functions.yaml").open("a") as file:
        file.write("\n" + record[1])
    shutil.copy(SEVERAL_RESULTS, clone / "opdefs")
    run(["make", "front-ends" if COMPILES else "codegen"], clone)
    return clone


def test_only_the_definition_file_changed(scratch: Path) -> None:
    changed = ["M", "opdefs/functions.yaml", "??", f"opdefs/{SEVERAL_RESULTS.name}"]
    assert run(["git", "status", "--porcelain"], scratch).split() == changed


@pytest.mark.parametrize(("name", "files"), [("kind", 4), ("type", 6), ("class", 3)])
def test_each_takes_few_files(scratch: Path, name: str, files: int) -> None:
    found = run(["git", "log", "--format=%H", "--grep", f"^a {name}$"], scratch).split()
    assert len(run(["git", "show", "--name-only", "--format=", found[0]], scratch).split()) == files


@pytest.mark.parametrize("pattern", ["__init__.pyi", "classes.d.ts", "classes.rbs", "objects.cpp", "counters.md"])
def test_new_class_is_in_generated_files(scratch: Path, pattern: str) -> None:
    generated = [path for path in scratch.rglob(pattern) if "generated" in path.parts]
    assert any("Counter" in path.read_text() for path in generated), f"no generated {pattern} mentions it"


def built(scratch: Path, compiler: list[str], source: Path) -> list[str]:
    """Returns the command that runs a program in C or C++."""
    include = [f"-I{scratch / 'runtime' / folder}" for folder in ("include", "generated/include")]
    library = [f"-L{scratch / 'build' / 'lib'}", "-loneflow", f"-Wl,-rpath,{scratch / 'build' / 'lib'}"]
    program = str(source.with_suffix(""))
    run([*compiler, "-Wall", "-Wextra", "-Werror", *include, str(source), *library, "-o", program], scratch)
    return [program]


@compiled
@pytest.mark.parametrize("fence", ["c", "cpp", "python", "javascript", "ruby"])
def test_programs_with_a_new_class_print_their_comments(scratch: Path, fence: str, tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guides" / "add-a-class.md").read_text().partition("## 4.")[2]
    (text,) = re.findall(rf"```{fence}\n(.*?)```", guide, re.DOTALL)
    expected = re.findall(r"(?:#|//|/\*) (.*?)(?: \*/)?\n", text)
    source = tmp_path / f"program.{fence}"
    source.write_text(text)
    if fence in ("c", "cpp"):
        command = built(scratch, ["cc", "-std=c11"] if fence == "c" else ["c++", "-std=c++20"], source)
    else:
        command = [*PROGRAMS["js" if fence == "javascript" else fence][:-1], text]
    assert run(command, scratch / "bindings" / "js" if fence == "javascript" else scratch).splitlines() == expected


OVERRIDING = {
    "python": """
import oneflow_py as flow

class Strides(flow.Walk):
    def __init__(self, length):
        super().__init__(1)
        self.length = length
    def step(self, position):
        if position > 100:
            raise KeyError(position)
        return super().step(position) + self.length - 1
    def mark(self, canvas):
        return canvas * 2

class Wrong(flow.Walk):
    def step(self, position):
        return "far"

print(flow.Walk(1).go(3), Strides(10).go(3), Strides(10).paint(flow.tensor([1.5]), 3).tolist())
for walk in (Strides(60), Wrong()):
    try:
        walk.go(3)
    except Exception as error:
        print(type(error).__name__, error)
print(Strides(10).go(3))
""",
    "js": """
const flow = require('oneflow-js');

class Strides extends flow.Walk {
  constructor(length) {
    super(1);
    this.length = length;
  }
  step(position) {
    if (position > 100) throw new RangeError(position);
    return super.step(position) + this.length - 1;
  }
  mark(canvas) {
    return canvas.mul(2);
  }
}
class Wrong extends flow.Walk {
  step() {
    return 'far';
  }
}
console.log(new flow.Walk(1).go(3), new Strides(10).go(3),
  JSON.stringify(new Strides(10).paint(flow.tensor([1.5]), 3).toArray()));
for (const walk of [new Strides(60), new Wrong()]) {
  try { walk.go(3); } catch (error) { console.log(error.name, error.message); }
}
console.log(new Strides(10).go(3));
new Strides(10).goAsync(3).catch((error) => console.log(error.message));
""",
    "ruby": """
require 'oneflow'

class Strides < OneFlow::Walk
  def initialize(length)
    super(1)
    @length = length
  end
  def step(position)
    raise KeyError, position.to_s if position > 100
    super + @length - 1
  end
  def mark(canvas) = canvas * 2
end
class Wrong < OneFlow::Walk
  def step(position) = "far"
end
puts "#{OneFlow::Walk.new(1).go(3)} #{Strides.new(10).go(3)} " +
  Strides.new(10).paint(OneFlow.tensor([1.5]), 3).to_a.to_s
[Strides.new(60), Wrong.new].each do |walk|
  walk.go(3)
rescue StandardError => error
  puts "#{error.class} #{error.message}"
end
puts Strides.new(10).go(3)
""",
}
PRINTED_OF_OVERRIDING = {
    "python": ["4 31 [12.0]", "KeyError 121", "TypeMismatch step: the result must be int, got str", "31"],
    "js": [
        "4 31 [12]",
        "RangeError 121",
        "TypeMismatch step: the result must be integer, got string",
        "31",
        "a JavaScript function runs only on the thread that it was made on",
    ],
    "ruby": [
        "4 31 [12.0]",
        "KeyError 121",
        "OneFlow::TypeMismatch step: the result must be Integer, got String",
        "31",
    ],
}


@compiled
@pytest.mark.parametrize("language", OVERRIDING)
def test_the_library_calls_methods_that_subclasses_override(scratch: Path, language: str) -> None:
    where = scratch / "bindings" / "js" if language == "js" else scratch
    assert run([*PROGRAMS[language][:-1], OVERRIDING[language]], where).splitlines() == PRINTED_OF_OVERRIDING[language]


FADE = {
    "python": """
import oneflow_py as flow
print([flow.fade(flow.tensor([8.0]), by).item() for by in (0.25, "25%", "12.5%")])
try:
    flow.fade(flow.tensor([1.0]), [])
except TypeError as error:
    print(error)
""",
    "js": """
const flow = require('oneflow-js');
console.log(JSON.stringify([0.25, '25%', '12.5%'].map((by) => flow.fade(flow.tensor([8]), by).item())));
try { flow.fade(flow.tensor([1]), {by: true}); } catch (error) { console.log(error.message); }
""",
    "ruby": """
require 'oneflow'
p [0.25, '25%', '12.5%'].map { |by| OneFlow.fade(OneFlow.tensor([8.0]), by).item }
begin
  OneFlow.fade(OneFlow.tensor([1.0]), [])
rescue TypeError => error
  puts error.message
end
""",
}
EXPECTED_OF_FADE = {
    "python": "fade: by must be float or str, got list",
    "js": "fade: by must be number or string, got boolean",
    "ruby": "fade: by must be Float or String, got Array",
}


@compiled
@pytest.mark.parametrize("language", FADE)
def test_every_language_converts_a_new_type(scratch: Path, language: str) -> None:
    where = scratch / "bindings" / "js" if language == "js" else scratch
    values, error = run([*PROGRAMS[language][:-1], FADE[language]], where).splitlines()
    assert json.loads(values) == [6.0, 6.0, 7.0]
    assert error == EXPECTED_OF_FADE[language]


@compiled
@pytest.mark.parametrize("language", PROGRAMS)
def test_new_operator_runs(scratch: Path, language: str) -> None:
    where = scratch / "bindings" / "js" if language == "js" else scratch
    assert json.loads(run(PROGRAMS[language], where)) == pytest.approx(EXPECTED, abs=1e-4)


@pytest.mark.parametrize("pattern", ["*.pyi", "*.d.ts", "*.rbs", "operators.h", "operators.hpp", "rsub.md"])
def test_new_operator_is_in_generated_files(scratch: Path, pattern: str) -> None:
    generated = [path for path in scratch.rglob(pattern) if "generated" in path.parts]
    assert any("rsub" in path.read_text() for path in generated), f"no generated {pattern} mentions it"


@pytest.mark.parametrize("language", PROGRAMS)
def test_new_operator_has_generated_tests(scratch: Path, language: str) -> None:
    generated = (scratch / "bindings" / language / "generated").rglob("*test*")
    assert any("rsub" in path.read_text() for path in generated if path.is_file())


SEVERAL = {
    "python": """
import oneflow_py as flow
whole, rest, is_whole = flow.whole_and_rest(flow.arange(600.0).reshape([20, 30]).transpose(0, 1), flow.full([20], 0.5))
sine, cosine = flow.sincos(flow.tensor([0.0], dtype=flow.float64))
print([whole.sum().item(), rest.sum().item(), is_whole.sum().item(), str(whole.dtype), sine.item(), cosine.item()])
""",
    "js": """
const flow = require('oneflow-js');
const [whole, rest, is_whole] =
  flow.wholeAndRest(flow.arange(600).to('cpu', flow.float32).reshape([20, 30]).transpose(0, 1), flow.full([20], 0.5));
const [sine, cosine] = flow.sincos(flow.tensor([0], {dtype: flow.float64}));
console.log(`[${whole.sum().item()}, ${rest.sum().item()}, ${is_whole.sum().item()}, '${whole.dtype}',`,
            `${sine.item()}, ${cosine.item()}]`);
""",
    "ruby": """
require 'oneflow'
whole, rest, is_whole =
  OneFlow.whole_and_rest(OneFlow.arange(600.0).reshape([20, 30]).transpose(0, 1), OneFlow.full([20], 0.5))
sine, cosine = OneFlow.sincos(OneFlow.tensor([0.0], dtype: :float64))
print [whole.sum.item, rest.sum.item, is_whole.sum.item, whole.dtype.to_s, sine.item, cosine.item]
""",
}


@compiled
@pytest.mark.parametrize("language", SEVERAL)
def test_several_results_of_different_types(scratch: Path, language: str) -> None:
    """Checks one kernel with three results, over strided operands: halves of 0 to 599."""
    where = scratch / "bindings" / "js" if language == "js" else scratch
    command = [*PROGRAMS[language][:-1], SEVERAL[language]]
    found = ast.literal_eval(run(command, where).replace('"', "'"))
    assert found[:3] == [89700, 150.0, 300]
    assert "int64" in found[3]
    assert found[4:] == [0.0, 1.0]


def test_the_guide_to_languages_names_all_functions_of_an_of_language() -> None:
    header = (ROOT / "runtime" / "include" / "oneflow" / "objects.h").read_text()
    (members,) = re.findall(r"typedef struct of_language \{(.*?)^\} of_language;", header, re.DOTALL | re.MULTILINE)
    functions = re.findall(r"\(\*(\w+)\)\(", members)
    guide = (ROOT / "docs" / "guides" / "add-a-language.md").read_text()
    assert [name for name in functions if f"`{name}`" not in guide] == []
    assert f"{len(functions)} functions, {len(re.findall(r'_word;|too_large;', members))} words" in guide
