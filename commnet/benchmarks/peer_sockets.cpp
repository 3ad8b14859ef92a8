// Measures round trips of 8 bytes of some `pairs` of processes over plain blocking sockets, transport=unix or tcp, each
// after a pause of pause_us=. Prints a JSON object.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "processes.h"

namespace {

constexpr size_t kSize = 8;

// Two connected sockets over TCP.
void connect_over_tcp(int* sockets) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  require(bind(listening, generic, size) == 0 && listen(listening, 1) == 0, "listen");
  getsockname(listening, generic, &size);
  sockets[0] = socket(AF_INET, SOCK_STREAM, 0);
  require(connect(sockets[0], generic, size) == 0, "connect");
  sockets[1] = accept(listening, nullptr, nullptr);
  for (const int each : {sockets[0], sockets[1]}) setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void receive(int socket, char* data) {
  for (size_t done = 0; done < kSize;) {
    const ssize_t got = read(socket, data + done, kSize - done);
    require(got > 0, "read");
    done += static_cast<size_t>(got);
  }
}

void send(int socket, const char* data) { require(write(socket, data, kSize) == ssize_t{kSize}, "write"); }

}  // namespace

int main(int count, char** values) {
  const Arguments given(count, values);
  const bool is_tcp = given.text("transport", "unix") == "tcp";
  const size_t pairs = given.number("pairs", 1);
  const auto pause_us = static_cast<unsigned>(given.number("pause_us", 0));
  const auto window_ms = static_cast<double>(given.number("window_ms", 2));
  require(pairs <= kMostProcesses, "too many processes");
  Shared& shared = *map_shared();
  std::vector<pid_t> clients, servers;
  for (size_t i = 0; i < pairs; ++i) {
    int sockets[2];
    if (is_tcp)
      connect_over_tcp(sockets);
    else
      require(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "socketpair");
    char bytes[kSize] = {};
    servers.push_back(start(given.cpu(1), [&] {
      for (;;) {
        receive(sockets[1], bytes);
        send(sockets[1], bytes);
      }
    }));
    clients.push_back(start(given.cpu(0), [&] {
      Meter meter(shared.clients[i], window_ms, std::max(200., 8 * window_ms), 16);
      meet(shared);
      meter.begin();
      do {
        meter.pause(pause_us);
        send(sockets[0], bytes);
        receive(sockets[0], bytes);
      } while (meter.tick());
      stop();
    }));
  }
  while (shared.ready_clients < pairs) usleep(100);
  finish(shared, clients, servers);
  std::printf("{\"us\": %.4f}\n", best_window(shared, pairs) * 1e6);
}
