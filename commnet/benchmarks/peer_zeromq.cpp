// Measures ZeroMQ over TCP: what=round_trips of 8 bytes, rate: of messages of 8 bytes, messages: of 1 MiB. Prints a
// JSON object.
#include <zmq.h>

#include "processes.h"

namespace {

// `waiting` messages wait at each side at most; 0: the default of the library.
void* make_socket(int waiting) {
  void* const socket = zmq_socket(zmq_ctx_new(), ZMQ_PAIR);
  if (waiting > 0) {
    zmq_setsockopt(socket, ZMQ_SNDHWM, &waiting, sizeof waiting);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &waiting, sizeof waiting);
  }
  return socket;
}

void* bound(Shared::Server& server, int waiting) {
  void* const socket = make_socket(waiting);
  require(zmq_bind(socket, "tcp://127.0.0.1:*") == 0, "zmq_bind", zmq_strerror(zmq_errno()));
  size_t size = sizeof server.address;
  zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, server.address, &size);
  server.is_ready = true;
  return socket;
}

void* connected(const Shared::Server& server, int waiting) {
  void* const socket = make_socket(waiting);
  await(server.is_ready);
  require(zmq_connect(socket, server.address) == 0, "zmq_connect", zmq_strerror(zmq_errno()));
  return socket;
}

double round_trips(const Arguments& given, Shared& shared) {
  char bytes[8] = {};
  const pid_t server = start(given.cpu(1), [&] {
    void* const socket = bound(shared.servers[0], 0);
    for (;;) {
      zmq_recv(socket, bytes, sizeof bytes, 0);
      zmq_send(socket, bytes, sizeof bytes, 0);
    }
  });
  const pid_t client = start(given.cpu(0), [&] {
    void* const socket = connected(shared.servers[0], 0);
    Meter meter(shared.clients[0], 2, 200, 16);
    meter.begin();
    do {
      zmq_send(socket, bytes, sizeof bytes, 0);
      zmq_recv(socket, bytes, sizeof bytes, 0);
    } while (meter.tick());
    stop();
  });
  finish(shared, {client}, {server});
  return best_window(shared);
}

double one_way(const Arguments& given, Shared& shared, size_t size, int waiting, Meter meter) {
  const pid_t receiver = start(given.cpu(1), [&] {
    void* const socket = bound(shared.servers[0], waiting);
    const auto receive = [&] {
      zmq_msg_t message;
      zmq_msg_init(&message);
      zmq_msg_recv(&message, socket, 0);
      zmq_msg_close(&message);
    };
    receive();
    meter.begin();
    do receive();
    while (meter.tick());
    stop();
  });
  const pid_t sender = start(given.cpu(0), [&] {
    void* const socket = connected(shared.servers[0], waiting);
    const std::vector<char> bytes(size, 1);
    for (;;) zmq_send(socket, bytes.data(), size, 0);
  });
  finish(shared, {receiver}, {sender});
  return best_window(shared);
}

}  // namespace

int main(int count, char** values) {
  const Arguments given(count, values);
  const std::string what = given.text("what");
  Shared& shared = *map_shared();
  Shared::Client& result = shared.clients[0];
  if (what == "round_trips") {
    std::printf("{\"us\": %.4f}\n", round_trips(given, shared) * 1e6);
  } else if (what == "rate") {
    const Meter meter(result, 100, 500, 64);
    std::printf("{\"per_us\": %.4f}\n", 1e-6 / one_way(given, shared, 8, 0, meter));
  } else {
    constexpr size_t kSize = 1 << 20;
    const Meter meter(result, 20, 200, 16);
    std::printf("{\"gb_s\": %.4f}\n", kSize / one_way(given, shared, kSize, 8, meter) / 1e9);
  }
}
