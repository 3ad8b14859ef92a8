// The example of README.md: a message, and a read of the other endpoint's memory.
#include <array>
#include <commnet/commnet.hpp>
#include <iostream>

int main() {
  std::array<float, 3> numbers = {1, 2, 3}, copy{};
  std::promise<std::string> greeting;

  commnet::Endpoint a({.name = "a", .secret = "of both"}), b({.name = "b", .secret = "of both"});
  b.on_message(7, [&](commnet::Message message) { greeting.set_value(std::string(message.text())); });
  const commnet::Memory shared = b.share(std::as_writable_bytes(std::span(numbers)), CN_READ);
  const commnet::Token token = shared.token(CN_READ);  // 64 bytes, which b would send to a

  const commnet::Peer peer = a.connect(b.address());  // usually from another process
  peer.send_copy(7, "hello");
  peer.read(token, 0, std::as_writable_bytes(std::span(copy))).get();

  std::cout << greeting.get_future().get() << ", " << copy[2] << "\n";  // hello, 3
  return copy == numbers ? 0 : 1;
}
