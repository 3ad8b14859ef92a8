"""Reads what the packages say about themselves: the version, the settings of pyproject.toml, the device plugins."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version
from pyproject_metadata import Readme, StandardMetadata

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
# The import package, in which all wheels install their files.
MODULE = "oneflow_py"


@dataclass(frozen=True)
class Payload:
    """The compiled files of all packages, which `make payload` collects."""

    folder: Path

    @property
    def extensions(self) -> list[Path]:
        """Returns the compiled part of the package, once for each ABI of Python."""
        return sorted((self.folder / "python").glob("_native.*"))

    @property
    def runtime(self) -> list[Path]:
        return sorted((self.folder / "runtime").iterdir())

    @property
    def headers(self) -> list[Path]:
        """Returns the headers of the C API and of its C++ interface."""
        return sorted((self.folder / "include" / "oneflow").iterdir())

    @property
    def notices(self) -> list[Path]:
        return sorted((self.folder / "notices").iterdir())

    @property
    def devices(self) -> dict[str, Path]:
        """Returns the plugin of each device that the base package does not contain."""
        folder = self.folder / "devices"
        found = sorted(folder.iterdir()) if folder.is_dir() else []
        return {path.name: path / f"{path.name}.so" for path in found}


class Project:
    """The metadata of the packages, from pyproject.toml and the file VERSION."""

    @cached_property
    def settings(self) -> dict[str, Any]:
        return tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))

    @cached_property
    def version(self) -> Version:
        """Returns the version of the packages; tests of upgrades make packages of another one."""
        return Version(os.environ.get("ONEFLOW_VERSION") or (ROOT / "VERSION").read_text(encoding="utf-8"))

    @property
    def links(self) -> dict[str, str]:
        """Returns addresses by their labels: none if $ONEFLOW_REPOSITORY does not say where the project is."""
        address = os.environ.get("ONEFLOW_REPOSITORY")
        if not address:
            return {}
        changelog = f"{address}/blob/v{self.version}/CHANGELOG.md"
        return {"Repository": address, "Issues": f"{address}/issues", "Changelog": changelog}

    @property
    def stable_python(self) -> str:
        """Returns the tag of the first Python whose stable ABI the extension uses."""
        tag: str = self.settings["tool"]["scikit-build"]["wheel"]["py-api"]
        return tag

    def base(self, payload: Payload) -> StandardMetadata:
        """Returns the metadata of the base package, with an extra for each device."""
        metadata = self._read(payload)
        metadata.optional_dependencies |= {device: [plugin] for device, plugin in self.extras(payload).items()}
        return metadata

    def extras(self, payload: Payload) -> dict[str, Requirement]:
        """Returns what the extra of each device installs."""
        name = self.settings["project"]["name"]
        return {device: Requirement(f"{name}-{device}=={self.version}") for device in payload.devices}

    def plugin(self, payload: Payload, device: str) -> StandardMetadata:
        """Returns the metadata of the package that adds a device plugin."""
        metadata = self._read(payload)
        base = metadata.name
        metadata.name = f"{base}-{device}"
        metadata.description = f"The {device} plugin of {base}: computes on devices of this type."
        metadata.dependencies = [Requirement(f"{base}=={self.version}")]
        metadata.scripts = {}
        metadata.optional_dependencies = {}
        text = f"# {metadata.name}\n\n{metadata.description}\n\n    pip install {base}[{device}]\n"
        metadata.readme = Readme(text, None, "text/markdown")
        return metadata

    def _read(self, payload: Payload) -> StandardMetadata:
        settings = self.settings["project"] | {"version": str(self.version), "dynamic": [], "urls": self.links}
        # Licences are files of the payload, and not of this folder.
        del settings["license-files"]
        metadata = StandardMetadata.from_pyproject({"project": settings}, project_dir=HERE, metadata_version="2.4")
        metadata.license_files = [Path(path.name) for path in payload.notices]
        return metadata
