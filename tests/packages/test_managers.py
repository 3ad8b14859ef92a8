"""Installs the packages by name with the other package managers of the languages, and runs the first example."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.packages.languages import JS, NODE_MODULES, PLACES, PROJECT, RUBY, Language, Place
from tests.packages.roots import REPOSITORY, Recipe
from tests.packages.test_install import Enter, run_example


def node_program(name: str, package: str, file: str, language: Language) -> Place:
    """Returns the root for Node.js with a package manager that is an npm package."""
    place = next(place for place in PLACES if place.language == JS)
    folder = f"/usr/local/lib/{name}"
    program = f'#!/bin/sh\\nexec node {folder}/{file} "$@"\\n'
    recipe = Recipe(
        name,
        place.recipe.suite,
        copied={NODE_MODULES / package: folder},
        prepare=f"printf '{program}' > /usr/local/bin/{name} && chmod +x /usr/local/bin/{name}",
        parent=place.recipe,
    )
    return replace(place, language=language, recipe=recipe)


def bundler(place: Place) -> Place:
    """Returns a root for Ruby with Bundler, and a project with a Gemfile."""
    recipe = Recipe(f"{place.name}-bundler", place.recipe.suite, packages=("ruby-bundler",), parent=place.recipe)
    gemfile = {f"{PROJECT}/Gemfile": 'source "ADDRESS"\ngem "oneflow-rb"\n'}
    return replace(place, language=replace(RUBY, run="bundle exec ruby"), recipe=recipe, settings=gemfile)


# Yarn installs neither from registries without TLS nor what has just been published, unless it is told to.
YARN_SETTINGS = """npmRegistryServer: "ADDRESS"
unsafeHttpWhitelist: ["127.0.0.1"]
npmMinimalAgeGate: 0
enableTelemetry: false
"""
YARN = replace(
    node_program("yarn", "@yarnpkg/cli-dist", "bin/yarn.js", replace(JS, run="yarn node")),
    settings={f"{PROJECT}/.yarnrc.yml": YARN_SETTINGS},
)
OLDER_RUBY, NEWER_RUBY = (bundler(place) for place in PLACES if place.language == RUBY)
# The second time, Bundler installs what Gemfile.lock says, which that of Debian 12 cannot.
FROM_LOCK_FILE = "bundle config set --local path gems && bundle install && rm -r gems && bundle install"
MANAGERS = (
    (node_program("pnpm", "pnpm", "bin/pnpm.cjs", JS), "pnpm add oneflow-js"),
    (YARN, "yarn add oneflow-js"),
    (OLDER_RUBY, "bundle install"),
    (NEWER_RUBY, FROM_LOCK_FILE),
)


@pytest.mark.parametrize(("place", "command"), MANAGERS, ids=[place.name for place, _ in MANAGERS])
def test_install_and_run(enter: Enter, place: Place, command: str) -> None:
    root = enter(place)
    root.run(command)
    run_example(root, place, REPOSITORY / "README.md")
