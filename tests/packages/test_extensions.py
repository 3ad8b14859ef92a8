"""Builds the extensions of examples/extensions against installed packages, outside of the checkout, and tests them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from tests.packages.languages import JS, PLACES, PROJECT, PYTHON, RUBY, Language, Place
from tests.packages.packagers import OLDER
from tests.packages.roots import REPOSITORY, Recipe, Root

FOLDER = "/root/extras"


@dataclass(frozen=True)
class Way:
    """How an extension is built and tested: with which packages of Debian, and by which commands in its folder."""

    language: Language
    tools: tuple[str, ...]
    build: str
    test: str
    prepare: str = ""

    @property
    def place(self) -> Place:
        """Returns the language's root in Debian 12, with the tools."""
        place = next(place for place in PLACES if place.language == self.language)
        name = f"{place.name}-extension"
        return replace(place, recipe=Recipe(name, place.recipe.suite, self.tools, {}, self.prepare, place.recipe))


# The registry has the packages of this project alone: what else an extension is built with comes from Debian.
WAYS = (
    Way(
        PYTHON,
        ("g++", "python3-dev", "python3-pybind11", "python3-pytest", "python3-setuptools", "python3-wheel"),
        "pip install --no-build-isolation .",
        "cd tests && python -m pytest -q -p no:cacheprovider .",
        prepare=f"sed -i 's/^\\(include-system-site-packages =\\).*/\\1 true/' {PROJECT}/pyvenv.cfg",
    ),
    Way(JS, ("g++", "make"), "npm install", "npm test"),
    Way(
        RUBY,
        ("g++", "make", "ruby-dev", "ruby-minitest"),
        "gem build flow_extras.gemspec && gem install --local flow_extras-1.0.0.gem",
        "ruby test/extras_test.rb",
    ),
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.language.name)
def test_an_extension_works_also_with_a_later_version(enter: Callable[[Place], Root], way: Way, version: str) -> None:
    language = way.language
    root = enter(way.place)
    shutil.copytree(REPOSITORY / "examples/extensions" / language.name, root.path(FOLDER))
    if language == JS:
        wrapper = "node_modules/node-addon-api"
        shutil.copytree(REPOSITORY / "bindings/js" / wrapper, root.path(FOLDER) / wrapper)

    def run(command: str) -> str:
        return root.run(f"cd {FOLDER} && {command}").output.strip()

    run(language.install_version.format(package=language.package, version=OLDER))
    run(way.build)
    assert run(language.version) == OLDER
    run(way.test)
    run(language.upgrade.format(package=language.package))
    assert run(language.version) == version
    run(way.test)
