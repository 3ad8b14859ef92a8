"""Fixtures of the tests of the packages: the packages, the registries that serve them, bare roots, and the report."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.packages.languages import LANGUAGES, PLACES, Language, Place
from tests.packages.packagers import LANGUAGE_PACKAGERS, OLDER_SETTINGS, VERSION, make_packages, older_build
from tests.packages.report import Report
from tests.packages.roots import REPOSITORY, Root, cached, layered, progress

REPORT = pytest.StashKey[Report]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--packages", type=Path, default=REPOSITORY / "dist", help="the folder of the packages to test")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REPORT] = Report()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    report = config.stash[REPORT]
    if report.rows:
        report.write(REPOSITORY / "build/package-report.json")
        terminalreporter.write_line(report.table())


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Report:
    """Returns what the tests write their figures to."""
    return pytestconfig.stash[REPORT]


@pytest.fixture(scope="session")
def version() -> str:
    """Returns the version of the packages."""
    return VERSION


@pytest.fixture(scope="session")
def dist(pytestconfig: pytest.Config) -> Path:
    """Returns the folder of the packages."""
    folder: Path = pytestconfig.getoption("--packages")
    missing = [language.name for language in LANGUAGES if not any(folder.glob(f"{language.name}/*"))]
    assert not missing, f"there are no packages for {', '.join(missing)}: run make packages"
    return folder


@pytest.fixture(scope="session")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the same packages as of an older version."""
    progress.info("making packages of an older version")
    build = older_build(tmp_path_factory.mktemp("older-build"))
    return make_packages(tmp_path_factory.mktemp("older"), LANGUAGE_PACKAGERS, build, **OLDER_SETTINGS)


class Registries:
    """The registries of all languages, each of which is started when it is first asked for."""

    def __init__(self, folder: Path, packages: Callable[[Language], list[Path]], stack: ExitStack) -> None:
        self._folder = folder
        self._packages = packages
        self._stack = stack
        self._addresses: dict[str, str] = {}

    def folder(self, language: Language) -> Path:
        """Returns the folder in which a registry keeps its packages."""
        return self._folder / language.name

    def address(self, language: Language) -> str:
        if language.name not in self._addresses:
            progress.info("publishing the packages for %s", language.tool)
            registry = language.registry(self._packages(language), self.folder(language))
            self._addresses[language.name] = self._stack.enter_context(registry)
        return self._addresses[language.name]


@pytest.fixture(scope="session")
def registries(dist: Path, older: Path) -> Iterator[Registries]:
    """Returns registries that have the packages of both versions."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="registries-")))
        yield Registries(folder, lambda language: language.packages(older) + language.packages(dist), stack)


@pytest.fixture
def enter(registries: Registries) -> Iterator[Callable[[Place], Root]]:
    """Returns a function that makes a fresh root, whose package manager knows the registry on this machine alone."""
    with ExitStack() as stack:

        def fresh(place: Place) -> Root:
            if not any((REPOSITORY / "build/payload").glob(place.needs)):
                pytest.skip(f"the packages have no binaries for {place.system}: the payload has no {place.needs}")
            return place.root(stack.enter_context(layered(cached(place.recipe))), registries.address(place.language))

        yield fresh


@pytest.fixture(params=PLACES, ids=lambda place: place.name)
def place(request: pytest.FixtureRequest) -> Place:
    """Returns each language in each of its roots."""
    each: Place = request.param
    return each
