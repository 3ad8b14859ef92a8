"""Writes the bill of materials of a release, in CycloneDX's format: its packages, and the software that they contain.

Usage: python -m tools.release.sbom FOLDER, where the folder has the packages; it gets oneflow.cdx.json
"""

from __future__ import annotations

import os
import sys
import uuid
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePath

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6

from tools.release.archives import members
from tools.release.third_party import ROOT, Software, inside, software

NAME = "oneflow.cdx.json"
SUFFIXES = {".whl", ".gem", ".tgz", ".gz", ".xz", ".zst"}


def component_of(part: Software) -> Component:
    """Describes software of others."""
    licence = LicenseFactory().make_from_string(part.licence)
    return Component(
        name=part.name,
        version=part.version or None,
        type=ComponentType.LIBRARY,
        bom_ref=f"part:{part.name}",
        licenses=[licence],
        external_references=[ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(part.url))],
    )


def package_component(package: Path, version: str) -> Component:
    """Describes a package by its file and hash."""
    digest = sha256(package.read_bytes()).hexdigest()
    return Component(
        name=package.name,
        version=version,
        type=ComponentType.FILE,
        bom_ref=f"package:{package.name}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        licenses=[LicenseExpression("Apache-2.0")],
    )


def bill(packages: list[Path]) -> Bom:
    """Returns the bill of materials of some packages. It depends on them alone, and on the date of the commit."""
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    top = Component(
        name="oneflow",
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref="oneflow",
        licenses=[LicenseExpression("Apache-2.0")],
    )
    bom = Bom()
    bom.metadata.component = top
    bom.metadata.timestamp = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), UTC)
    found = [(part, component_of(part)) for part in software()]
    shipped = []
    for package in packages:
        component = package_component(package, version)
        shipped.append(component)
        parts = inside(members(package))
        contained = [described for part, described in found if parts & set(part.inside)]
        bom.components.update({component, *contained})
        bom.register_dependency(component, contained)
    bom.register_dependency(top, shipped)
    names = "".join(f"{package.name} {component.hashes}" for package, component in zip(packages, shipped, strict=True))
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"oneflow {version} {names}")
    return bom


def main(folder: Path) -> None:
    packages = sorted(path for path in folder.rglob("*") if PurePath(path).suffix in SUFFIXES)
    text = JsonV1Dot6(bill(packages)).output_as_string(indent=1)
    (folder / NAME).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
