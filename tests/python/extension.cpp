// What test_extensions.py calls: every form in which functions of extensions take and return objects.
#include <oneflow/pybind11.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <thread>

namespace py = pybind11;
namespace flow = oneflow;

namespace {

int released = 0;

struct Scaler {
  double factor;
  flow::Tensor call(const flow::Tensor& input) const { return input * factor; }
};

flow::Tensor foreign(int64_t count) {
  auto* memory = new float[static_cast<size_t>(count)]();
  return flow::Tensor::share(flow::float32, memory, sizeof(float) * static_cast<uint64_t>(count), {count}, [memory] {
    delete[] memory;
    ++released;
  });
}

[[noreturn]] void fail(int status) {
  flow::check(of_fail(static_cast<of_status>(status), "fail: on purpose"));
  throw std::logic_error("there is no failure");
}

// Returns what a front end of an earlier version would answer.
void accept_older() {
  of_extension_api older{};
  older.struct_size = sizeof(older) - sizeof(void*);
  flow::extension::accept(&older, "oneflow_py");
}

}  // namespace

PYBIND11_MODULE(extension, module) {
  flow::python::initialize();
  using flow::python::def;
  def(
      module, "same", [](const flow::Tensor& input) { return input; }, py::arg("input"));
  def(
      module, "moved", [](flow::Tensor input) { return input; }, py::arg("input"));
  def(module, "unnamed", [](const flow::Tensor&, const flow::Tensor&) {});
  def(
      module, "add", [](flow::Tensor& input, double by) { input.add_(by); }, py::arg("input"), py::arg("by"));
  def(module, "empty", [] { return flow::Tensor(); });
  def(module, "foreign", foreign, py::arg("count"));
  def(module, "released", [] { return released; });
  def(
      module, "device", [](const flow::Device& device) { return device; }, py::arg("device"));
  def(
      module, "dtype", [](flow::DType dtype) { return dtype; }, py::arg("dtype"));
  def(
      module, "generator", [](const flow::Generator& generator) { return generator; }, py::arg("generator"));
  def(
      module, "new_generator", [](uint64_t seed) { return flow::Generator(seed); }, py::arg("seed"));
  def(module, "default_generator", [] { return flow::default_generator(); });
  def(
      module, "optional", [](const std::optional<flow::Tensor>& input) { return input; },
      py::arg("input") = py::none());
  def(
      module, "reversed",
      [](std::vector<flow::Tensor> tensors) {
        std::reverse(tensors.begin(), tensors.end());
        return tensors;
      },
      py::arg("tensors"));
  def(
      module, "overloaded", [](const flow::Tensor&) { return "tensor"; }, py::arg("input"));
  def(
      module, "overloaded", [](double) { return "number"; }, py::arg("input"));
  def(module, "fail", fail, py::arg("status"));
  def(module, "accept_older", accept_older);
  def(
      module, "call",
      [](const py::function& function, const flow::Tensor& input) { return function(input).cast<flow::Tensor>(); },
      py::arg("function"), py::arg("input"));
  def(
      module, "unlocked", [](const flow::Tensor& input) { return input.exp().sum(); }, py::arg("input"),
      py::call_guard<py::gil_scoped_release>());
  // Ends with its last reference on a thread that Python does not know.
  def(
      module, "release_elsewhere",
      [](flow::Tensor input) { std::thread([moved = std::move(input)]() mutable { moved = flow::Tensor(); }).join(); },
      py::arg("input"), py::call_guard<py::gil_scoped_release>());
  py::class_<Scaler> scaler(module, "Scaler");
  scaler.def(py::init<double>());
  def(scaler, "call", &Scaler::call, py::arg("input"));
}
