// Sends messages and reads memory over the transport of pairs.cpp. docs/add-a-transport.md explains it.
#include <commnet/commnet.hpp>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "pairs.h"

namespace {

constexpr uint32_t kNumbers = 1;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s (%s)\n", what, cn_error());
  std::exit(1);
}

// Pings of silent peers would hide that a transport has forgotten to go on: they come later than the timeouts below.
commnet::EndpointOptions options(const char* name) {
  return {.name = name, .secret = "a secret", .transports = "pairs", .peer_timeout = std::chrono::minutes(2)};
}

cn_call in_time() {
  cn_call call{};
  call.timeout_ms = 10'000;
  return call;
}

}  // namespace

int main() {
  // [register]
  commnet::check(cn_register_transport(pairs_transport()));
  commnet::Endpoint a(options("a"));
  auto b = std::make_unique<commnet::Endpoint>(options("b"));
  // [register]

  // Messages of all sizes arrive, in their order.
  const std::vector<size_t> sizes = {0, 1, 47, 48, 49, 16384, 16385, 5'000'000, 1 << 20, 3};
  std::promise<void> all_arrived;
  size_t arrived = 0;
  b->on_message(kNumbers, [&](commnet::Message message) {
    require(arrived < sizes.size() && message.bytes().size() == sizes[arrived], "messages in their order");
    for (const std::byte byte : message.bytes()) require(byte == std::byte(arrived), "the bytes of a message");
    if (++arrived == sizes.size()) all_arrived.set_value();
  });
  const commnet::Peer to_b = a.connect(b->address());
  require(to_b.transport() == "pairs", "the transport is used");
  for (size_t i = 0; i < sizes.size(); ++i) to_b.send_copy(kNumbers, std::string(sizes[i], static_cast<char>(i)));
  require(all_arrived.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready, "messages arrive");

  // Memory is read and written.
  std::vector<uint32_t> there(1'000'000), here(there.size());
  std::iota(there.begin(), there.end(), 7);
  {
    const commnet::Memory memory = b->share(std::as_writable_bytes(std::span(there)), CN_READ | CN_WRITE);
    const commnet::Token token = memory.token(CN_READ | CN_WRITE);
    to_b.read(token, 0, std::as_writable_bytes(std::span(here)), in_time()).get();
    require(here == there, "what was read");
    for (uint32_t& each : here) each *= 3;
    to_b.write(token, 0, std::as_bytes(std::span(here)), in_time()).get();
    require(here == there, "what was written");
  }

  // An endpoint that is closed is noticed.
  const commnet::Token none{};
  b.reset();
  try {
    to_b.read(none, 0, std::as_writable_bytes(std::span(here))).get();
    require(false, "a lost peer is an error");
  } catch (const commnet::Failure& failure) {
    require(failure.status() == CN_PEER_LOST, "a lost peer is an error of its own");
    std::printf("as expected: %s\n", failure.what());
  }
  return 0;
}
