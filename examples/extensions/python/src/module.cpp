#include <oneflow/pybind11.h>
#include <pybind11/stl.h>

#include "extras.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_native, module) {
  oneflow::python::initialize();
  using oneflow::python::def;
  def(module, "scaled_tanh", extras::scaled_tanh, py::arg("input"), py::arg("scale") = 1.0);
  def(module, "standardize", extras::standardize, py::arg("input"), py::arg("dim") = -1);
  def(module, "noisy", extras::noisy, py::arg("input"), py::arg("deviation"), py::arg("generator") = py::none());
  def(module, "squares", extras::squares, py::arg("count"));
  module.def("live_tables", [] { return extras::tables.load(); });
}
