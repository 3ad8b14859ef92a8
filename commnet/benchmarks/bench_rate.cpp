// Measures the rate of messages of 8 bytes, one way, with the default options. Prints a JSON object: millions per
// second.
#include "endpoints.h"

namespace {

constexpr uint32_t kTake = 1;
constexpr char kBytes[8] = {};

void receive(const Kind& kind, Shared& shared) {
  cn_endpoint* const own = kind.endpoint("receiver");
  Receiver receiver{Meter(shared.clients[0], 100, 500, 64)};
  const auto take = [](void* user, cn_message*) { static_cast<Receiver*>(user)->take(); };
  check(cn_set_handler(own, kTake, take, &receiver), "cn_set_handler");
  publish(shared.servers[0], own);
  kind.run(own, receiver.ends);
  stop();
}

void send(const Kind& kind, Shared& shared) {
  cn_endpoint* const own = kind.endpoint("sender");
  cn_peer* const peer = connect(own, shared, 0);
  for (;;)
    while (cn_send(peer, kTake, 0, kBytes, sizeof kBytes, nullptr, nullptr) == CN_FULL) usleep(50);
}

}  // namespace

int main(int count, char** values) {
  const Arguments given(count, values);
  const Kind kind(given);
  Shared& shared = *map_shared();
  const pid_t receiver = start(given.cpu(1), [&] { receive(kind, shared); });
  const pid_t sender = start(given.cpu(0), [&] { send(kind, shared); });
  finish(shared, {receiver}, {sender});
  std::printf("{\"per_us\": %.4f, \"transport\": \"%s\"}\n", 1e-6 / best_window(shared), shared.transport);
}
