// The module commnet._native.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "endpoint.h"
#include "errors.h"

namespace py = pybind11;
using namespace commnet_python;

namespace {

py::buffer_info bytes_of(const Message& message) {
  static char nothing = 0;
  void* const data = message.size() ? const_cast<void*>(message.data()) : &nothing;
  return {data, 1, "B", 1, {static_cast<py::ssize_t>(message.size())}, {1}, /*readonly=*/true};
}

uint64_t token_size(const py::bytes& bytes) {
  const std::string_view view = bytes;
  cn_token token{};
  std::copy_n(view.begin(), std::min(view.size(), sizeof token.bytes), reinterpret_cast<char*>(token.bytes));
  return cn_token_size(&token);
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.def("version", &cn_version);
  module.def("set_error_factory", &set_error_factory);
  module.def("status_name", [](int status) { return cn_status_name(static_cast<cn_status>(status)); });
  module.def("token_size", &token_size);

  py::class_<Message, std::shared_ptr<Message>>(module, "Message", py::buffer_protocol()).def_buffer(&bytes_of);
  py::class_<Queue, std::shared_ptr<Queue>>(module, "Queue");
  py::class_<Memory, std::shared_ptr<Memory>>(module, "Memory")
      .def("token", &Memory::token)
      .def("release", &Memory::release)
      .def_property_readonly("is_released", &Memory::is_released)
      .def_property_readonly("size", &Memory::size);
  py::class_<Operation, std::shared_ptr<Operation>>(module, "Operation")
      .def_property_readonly("done", &Operation::is_done)
      .def_property_readonly("peer", &Operation::peer)
      .def("wait", &Operation::wait)
      .def("cancel", &Operation::cancel)
      .def("add_callback", &Operation::add_callback);

  using Timeout = std::optional<double>;
  using QueuePointer = std::shared_ptr<Queue>;
  py::class_<Endpoint, std::shared_ptr<Endpoint>>(module, "Endpoint")
      .def(py::init([](std::optional<std::string> name, std::optional<py::bytes> secret,
                       std::optional<std::string> transports, std::optional<std::string> listen, double busy_poll,
                       double peer_timeout, uint32_t streams, uint64_t receive_window, uint64_t send_limit,
                       uint64_t message_limit) {
        return Endpoint::create({std::move(name), secret ? std::optional<std::string>(*secret) : std::nullopt,
                                 std::move(transports), std::move(listen), busy_poll, peer_timeout, streams,
                                 receive_window, send_limit, message_limit});
      }))
      .def_property_readonly("is_closed", &Endpoint::is_closed)
      .def("close", &Endpoint::close)
      .def("abandon", &Endpoint::abandon)
      .def_property_readonly("name", &Endpoint::name)
      .def_property_readonly("address", &Endpoint::address)
      .def("connect",
           [](Endpoint& endpoint, const std::string& address, Timeout timeout) {
             return endpoint.connect(address, {timeout, nullptr});
           })
      .def("send",
           [](Endpoint& endpoint, uintptr_t peer, py::handle data, uint32_t handler, uint32_t channel, Timeout timeout,
              QueuePointer queue) {
             return endpoint.send(peer, data, handler, channel, {timeout, std::move(queue)});
           })
      .def("read",
           [](Endpoint& endpoint, uintptr_t peer, py::handle token, py::handle into, uint64_t offset, Timeout timeout,
              QueuePointer queue) {
             return endpoint.read(peer, token, into, offset, {timeout, std::move(queue)});
           })
      .def("write",
           [](Endpoint& endpoint, uintptr_t peer, py::handle token, py::handle data, uint64_t offset, Timeout timeout,
              QueuePointer queue) {
             return endpoint.write(peer, token, data, offset, {timeout, std::move(queue)});
           })
      .def("queue", &Endpoint::queue)
      .def("mark",
           [](Endpoint& endpoint, const QueuePointer& queue, Timeout timeout) {
             return endpoint.mark(queue, {timeout, nullptr});
           })
      .def("register", &Endpoint::register_memory)
      .def("find_peer", &Endpoint::find_peer)
      .def("peer_name", &Endpoint::peer_name)
      .def("peer_transport", &Endpoint::peer_transport)
      .def("peer_is_connected", &Endpoint::peer_is_connected)
      .def("disconnect", &Endpoint::disconnect)
      .def("set_handler", &Endpoint::set_handler)
      .def("watch_peers", &Endpoint::watch_peers)
      .def_property_readonly("descriptor", &Endpoint::descriptor)
      .def("next_events", &Endpoint::next_events);
}
