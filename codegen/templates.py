"""Rendering of templates."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

MARK = "by codegen, do not edit"


def banner(sources: Iterable[str]) -> str:
    """The words of a generated file's first line."""
    files = sorted(set(sources))
    return f"generated from {files[0] if len(files) == 1 else 'opdefs'} {MARK}"


class Templates:
    """The Jinja templates of some folders, of which the first goes first.

    Undefined names are errors, lines with only a tag leave no trace.
    """

    def __init__(self, *folders: Path) -> None:
        import jinja2  # here, for a run that has nothing to do needs none

        self.environment: jinja2.Environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
        )
        self.environment.globals["banner"] = banner

    def add(self, **helpers: Any) -> Templates:
        """Makes functions and values known to the templates, as filters too where they are functions."""
        self.environment.globals.update(helpers)
        self.environment.filters.update({name: each for name, each in helpers.items() if callable(each)})
        return self

    def render(self, template: str, /, **values: Any) -> str:
        return self.environment.get_template(template).render(**values)
