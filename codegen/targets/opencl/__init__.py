"""The kernels of the OpenCL backend: C++ sources that contain the source of kernels, which the plugin compiles."""

from __future__ import annotations

from pathlib import Path

from codegen.grid import GridTarget
from codegen.names import source_files
from codegen.target import LibraryPart, Output, Unit


class OpenCl(GridTarget):
    source_template = "program.cpp.j2"

    def library_part(self, space: str, root: Path) -> LibraryPart | None:
        outputs = [each for each in self.outputs(self.definitions) if "/carry." not in each.path]
        files = [output.path for output in outputs if output.path.endswith(".cpp")]
        if not files:
            return None
        text = self.templates.render("library.cpp.j2", files=files, sources=source_files(self.definitions.ops))
        source = f"{self.output_folder}/library.cpp"
        units = (
            Unit(source, f"{self.name}_programs", ("-Os",)),
            Unit("runtime/devices/grid/library/kernels.cpp", f"{self.name}_kernels", ("-Os",)),
        )
        folders = (f"runtime/devices/{self.name}",)
        return LibraryPart((*outputs, Output(source, text)), units, folders, kernels="grid::find_library_kernel")
