from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

import oneflow_py as flow

module = Pybind11Extension(
    "flow_extras._native",
    ["src/module.cpp"],
    cxx_std=20,
    include_dirs=[flow.get_include()],
    extra_objects=[flow.get_library()],
)
setup(ext_modules=[module])
