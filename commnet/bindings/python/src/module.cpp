// The module commnet._native.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "arguments.h"
#include "endpoint.h"
#include "errors.h"
#include "memory.h"

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

PYBIND11_MODULE(_extension, module) {
  module.def("version", &cn_version);
  module.def("set_error_factory", &set_error_factory);
  module.def("status_name", [](int status) { return cn_status_name(static_cast<cn_status>(status)); });
  module.def("token_size", &token_size);

  py::class_<Message, std::shared_ptr<Message>>(module, "Message", py::buffer_protocol()).def_buffer(&bytes_of);
  py::class_<Queue, std::shared_ptr<Queue>>(module, "Queue");
  py::class_<Memory, std::shared_ptr<Memory>>(module, "Memory", py::custom_type_setup(&Memory::set_up))
      .def(py::init<>())
      .def("token_bytes", &Memory::token)
      .def("release", &Memory::release)
      .def("_retire", &Memory::retire)
      .def_property_readonly("is_released", &Memory::is_released)
      .def_property_readonly("size", &Memory::size);
  py::class_<Operation, std::shared_ptr<Operation>>(module, "Operation")
      .def_property_readonly("done", &Operation::is_done)
      .def_property_readonly("peer", &Operation::peer)
      .def("wait",
           [](Operation& operation, py::handle timeout) {
             operation.wait(timeout.is_none() ? std::nullopt : std::optional(duration_of(timeout, "timeout", 1e3)));
           })
      .def("cancel", &Operation::cancel)
      .def("add_callback", &Operation::add_callback);

  py::class_<Endpoint, std::shared_ptr<Endpoint>>(module, "Endpoint")
      .def(py::init([](py::handle name, std::optional<py::bytes> secret, py::handle transports, py::handle listen,
                       py::handle busy_poll, py::handle peer_timeout, py::handle streams, py::handle receive_window,
                       py::handle send_limit, py::handle message_limit, py::handle linger) {
        return Endpoint::create({optional_text_of(name, "name"),
                                 secret ? std::optional<std::string>(*secret) : std::nullopt,
                                 optional_text_of(transports, "transports"), optional_text_of(listen, "listen"),
                                 duration_of(busy_poll, "busy_poll", 1e6),
                                 duration_of(peer_timeout, "peer_timeout", 1e3), integer32_of(streams, "streams"),
                                 integer_of(receive_window, "receive_window"), integer_of(send_limit, "send_limit"),
                                 integer_of(message_limit, "message_limit"), duration_of(linger, "linger", 1e3)});
      }))
      .def_property_readonly("is_closed", &Endpoint::is_closed)
      .def("close", &Endpoint::close)
      .def("abandon", &Endpoint::abandon)
      .def_property_readonly("name", &Endpoint::name)
      .def_property_readonly("address", &Endpoint::address)
      .def("join",
           [](Endpoint& endpoint, py::handle rank, py::handle size, py::handle meeting, py::handle timeout) {
             return endpoint.join(integer32_of(rank, "rank"), integer32_of(size, "size"), text_of(meeting, "meeting"),
                                  call_of(timeout).timeout_ms);
           })
      .def("connect",
           [](Endpoint& endpoint, py::handle address, py::handle timeout) {
             return endpoint.connect(text_of(address, "address"), call_of(timeout));
           })
      .def("send",
           [](Endpoint& endpoint, uintptr_t peer, py::handle data, py::handle handler, py::handle channel,
              py::handle timeout, py::handle queue) {
             return endpoint.send(peer, data, integer32_of(handler, "handler"), integer32_of(channel, "channel"),
                                  call_of(timeout, queue));
           })
      .def("read",
           [](Endpoint& endpoint, uintptr_t peer, py::handle token, py::handle into, py::handle offset,
              py::handle timeout, py::handle queue) {
             return endpoint.read(peer, token_of(token), into, integer_of(offset, "offset"), call_of(timeout, queue));
           })
      .def("write",
           [](Endpoint& endpoint, uintptr_t peer, py::handle token, py::handle data, py::handle offset,
              py::handle timeout, py::handle queue) {
             return endpoint.write(peer, token_of(token), data, integer_of(offset, "offset"), call_of(timeout, queue));
           })
      .def("queue", &Endpoint::queue)
      .def("mark", [](Endpoint& endpoint, const std::shared_ptr<Queue>& queue,
                      py::handle timeout) { return endpoint.mark(queue, call_of(timeout)); })
      .def("register", &Endpoint::register_memory)
      .def("allocate", [](Endpoint& endpoint, Memory& memory, py::handle size,
                          uint32_t rights) { endpoint.allocate_memory(memory, integer_of(size, "size"), rights); })
      .def("find_peer", [](Endpoint& endpoint, py::handle name) { return endpoint.find_peer(text_of(name, "name")); })
      .def("peer_name", &Endpoint::peer_name)
      .def("peer_transport", &Endpoint::peer_transport)
      .def("peer_is_connected", &Endpoint::peer_is_connected)
      .def("disconnect", &Endpoint::disconnect)
      .def("set_handler", [](Endpoint& endpoint, py::handle number,
                             bool is_set) { endpoint.set_handler(integer32_of(number, "handler"), is_set); })
      .def("watch_peers", &Endpoint::watch_peers)
      .def_property_readonly("descriptor", &Endpoint::descriptor)
      .def("next_events", &Endpoint::next_events);
}

// The threads of endpoints, and the classes of errors, belong to one interpreter. pybind11 itself would wait for a lock
// forever in another one.
extern "C" PYBIND11_EXPORT PyObject* PyInit__native() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return PyInit__extension();
  PyErr_SetString(PyExc_ImportError, "commnet can only be imported in the main interpreter of a process");
  return nullptr;
}
