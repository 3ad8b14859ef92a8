// Measures round trips of 8 bytes. Each of `pairs` clients asks its `peers` servers in turn (turns=1), or always the
// first of them, after a pause of pause_us=. With pids=1 it prints the processes, clients first, and begins when it
// gets a line: what counts system calls can be attached. Prints a JSON object: the time of a round trip, and how many
// each client has made.
#include "endpoints.h"

namespace {

constexpr uint32_t kAsk = 1;
constexpr char kBytes[8] = {};

void echo(void*, cn_message* message) {
  cn_send(cn_message_peer(message), kAsk, 0, cn_message_data(message), cn_message_size(message), nullptr, nullptr);
}

struct Client {
  std::vector<cn_peer*> peers;
  bool takes_turns;
  unsigned pause_us;
  Meter meter;
  size_t next = 0;
  std::atomic<bool> ends{false};

  void ask() {
    check(cn_send(peers[next], kAsk, 0, kBytes, sizeof kBytes, nullptr, nullptr), "cn_send");
    if (takes_turns) next = (next + 1) % peers.size();
  }
  void answered() {
    if (meter.tick()) {
      meter.pause(pause_us);
      return ask();
    }
    ends = true;
    ends.notify_all();
  }
};

void serve(const Kind& kind, Shared& shared, size_t number) {
  cn_endpoint* const own = kind.endpoint("server " + std::to_string(number));
  check(cn_set_handler(own, kAsk, echo, nullptr), "cn_set_handler");
  publish(shared.servers[number], own);
  kind.serve(own);
}

void ask(const Arguments& given, const Kind& kind, Shared& shared, size_t number, size_t peers) {
  cn_endpoint* const own = kind.endpoint("client " + std::to_string(number));
  const double window_ms = static_cast<double>(given.number("window_ms", 2));
  Client client{{},
                given.number("turns", 0) != 0,
                static_cast<unsigned>(given.number("pause_us", 0)),
                Meter(shared.clients[number], window_ms, std::max(200., 8 * window_ms), 16)};
  for (size_t i = 0; i < peers; ++i) client.peers.push_back(connect(own, shared, number * peers + i));
  const auto answered = [](void* user, cn_message*) { static_cast<Client*>(user)->answered(); };
  check(cn_set_handler(own, kAsk, answered, &client), "cn_set_handler");
  meet(shared);
  client.meter.begin();
  client.ask();
  kind.run(own, client.ends);
  stop();
}

}  // namespace

int main(int count, char** values) {
  const Arguments given(count, values);
  const Kind kind(given);
  const size_t pairs = given.number("pairs", 1), peers = given.number("peers", 1);
  require(pairs * peers <= kMostProcesses, "too many processes");
  Shared& shared = *map_shared();
  std::vector<pid_t> servers, clients;
  for (size_t i = 0; i < pairs * peers; ++i) servers.push_back(start(given.cpu(1), [&] { serve(kind, shared, i); }));
  for (size_t i = 0; i < pairs; ++i)
    clients.push_back(start(given.cpu(0), [&] { ask(given, kind, shared, i, peers); }));
  while (shared.ready_clients < pairs) usleep(100);
  if (given.number("pids", 0) != 0) {
    for (const pid_t each : clients) std::printf("%d ", each);
    for (const pid_t each : servers) std::printf("%d ", each);
    std::printf("\n");
    std::fflush(stdout);
    std::getchar();
  }
  finish(shared, clients, servers);
  const double us = best_window(shared, pairs) * 1e6;
  std::printf("{\"us\": %.4f, \"half_us\": %.4f, \"round_trips\": %lu, \"transport\": \"%s\"}\n", us, us / 2,
              shared.clients[0].total, shared.transport);
}
