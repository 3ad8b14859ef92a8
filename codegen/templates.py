"""Renders Jinja templates."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

MARK = "by codegen, do not edit"


def banner(sources: Iterable[str]) -> str:
    """Returns the text of a generated file's first line, without comment characters.

    Records of a library are named by their folder, wherever that is.
    """
    files = sorted(set(sources))
    is_library = bool(files) and not any(file.startswith("opdefs/") for file in files)
    if is_library:
        files = ["/".join(Path(file).parts[-2:]) for file in files]
    folder = Path(files[0]).parent.name if is_library else "opdefs"
    return f"generated from {files[0] if len(files) == 1 else folder} {MARK}"


class Templates:
    """The Jinja templates in some folders; a template in an earlier folder hides one of the same name in a later one.

    Undefined names are errors. Lines that contain only a tag produce no output.
    """

    def __init__(self, *folders: Path) -> None:
        import jinja2  # imported late: a run in which nothing has changed does not need it

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
        """Defines globals of the templates; functions are also defined as filters."""
        self.environment.globals.update(helpers)
        self.environment.filters.update({name: each for name, each in helpers.items() if callable(each)})
        return self

    def render(self, template: str, /, **values: Any) -> str:
        """Returns the text of a template with these values."""
        return self.environment.get_template(template).render(**values)
