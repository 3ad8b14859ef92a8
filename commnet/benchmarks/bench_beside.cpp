// Measures the round trip of 8 bytes between an endpoint and a peer, with the default options, while large reads of
// another peer are under way: reads=0: none, reads=from: the endpoint reads the other peer's memory, reads=by: the
// other peer reads that of the endpoint. Prints a JSON object: the time of a round trip.
#include "endpoints.h"

namespace {

constexpr uint32_t kAsk = 1;
constexpr size_t kLarge = 4 << 20, kDepth = 2;
constexpr char kBytes[8] = {};
// The servers of Shared.
enum { kAsked, kEndpoint, kOther };

void echo(void*, cn_message* message) {
  cn_send(cn_message_peer(message), kAsk, 0, cn_message_data(message), cn_message_size(message), nullptr, nullptr);
}

// Keeps reads of a peer's memory under way.
struct Reader {
  cn_peer* peer;
  cn_token token;
  std::vector<char> bytes = std::vector<char>(kLarge, 1);

  void begin() {
    cn_call call{};
    call.struct_size = sizeof call;
    call.user = this;
    call.done = [](void* user, cn_status status, const char* error) {
      require(status == CN_OK, "cn_read", error);
      static_cast<Reader*>(user)->begin();
    };
    check(cn_read(peer, &token, 0, bytes.data(), kLarge, &call, nullptr), "cn_read");
  }
  void begin_all() {
    for (size_t i = 0; i < kDepth; ++i) begin();
  }
};

struct Client {
  cn_peer* peer;
  Meter meter;
  std::atomic<bool> ends{false};

  void ask() { check(cn_send(peer, kAsk, 0, kBytes, sizeof kBytes, nullptr, nullptr), "cn_send"); }
  void answered() {
    if (meter.tick()) return ask();
    ends = true;
    ends.notify_all();
  }
};

cn_memory* registered(cn_endpoint* own) {
  static std::vector<char> bytes(kLarge, 1);
  cn_memory* result = nullptr;
  check(cn_memory_register(own, bytes.data(), kLarge, CN_READ | CN_WRITE, &result), "cn_memory_register");
  return result;
}

}  // namespace

int main(int count, char** values) {
  const Arguments given(count, values);
  const Kind kind(given);
  const std::string reads = given.text("reads", "0");
  Shared& shared = *map_shared();
  std::atomic<bool>& other_is_ready = shared.servers[kOther].is_ready;
  const pid_t asked = start(given.cpu(1), [&] {
    cn_endpoint* const own = kind.endpoint("asked");
    check(cn_set_handler(own, kAsk, echo, nullptr), "cn_set_handler");
    publish(shared.servers[kAsked], own);
    kind.serve(own);
  });
  const pid_t other = start(given.cpu(1), [&] {
    cn_endpoint* const own = kind.endpoint("other");
    Reader reader{nullptr, {}};
    if (reads == "by") {
      reader.peer = connect(own, shared, kEndpoint);
      reader.token = token_of(shared.servers[kEndpoint]);
      reader.begin_all();
    }
    publish(shared.servers[kOther], own, registered(own));
    kind.serve(own);
  });
  const pid_t client = start(given.cpu(0), [&] {
    cn_endpoint* const own = kind.endpoint("endpoint");
    publish(shared.servers[kEndpoint], own, registered(own));
    await(other_is_ready);
    Reader reader{nullptr, {}};
    if (reads == "from") {
      reader.peer = connect(own, shared, kOther);
      reader.token = token_of(shared.servers[kOther]);
      reader.begin_all();
    }
    Client asking{connect(own, shared, kAsked), Meter(shared.clients[0], 10, 200, 4)};
    const auto answered = [](void* user, cn_message*) { static_cast<Client*>(user)->answered(); };
    check(cn_set_handler(own, kAsk, answered, &asking), "cn_set_handler");
    asking.meter.begin();
    asking.ask();
    kind.run(own, asking.ends);
    stop();
  });
  finish(shared, {client}, {asked, other});
  std::printf("{\"us\": %.4f, \"transport\": \"%s\"}\n", best_window(shared) * 1e6, shared.transport);
}
