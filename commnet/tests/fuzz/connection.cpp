#include "connection.h"

#include <commnet/transport.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/frame.h"
#include "core/secure.h"

namespace commnet::fuzz {

namespace {

// The transport: one connection at a time, whose frames are there already.
struct Script {
  cn_transport_host host{};
  cn_host_endpoint* endpoint = nullptr;
  cn_host_connection* connection = nullptr;
  bool begins = false, connects = false, is_broken = false;
  std::vector<std::pair<Frame, std::vector<uint8_t>>> frames;  // to be received
  size_t next = 0;
  std::vector<std::pair<Frame, std::vector<uint8_t>>> sent;
  std::vector<uint64_t> cookies, moves;
  uint64_t events = 0;  // counts what happens
  uint64_t grant = 0;
};
Script script;

cn_transport* transport() { return reinterpret_cast<cn_transport*>(&script); }
cn_connection* connection() { return reinterpret_cast<cn_connection*>(&script); }

void receive(const Frame& frame, const std::vector<uint8_t>& payload) {
  ++script.events;
  void* to = nullptr;
  if (!script.host.begin_frame(script.connection, &frame, frame.size, &to)) {
    script.is_broken = true;
    return;
  }
  // Of a payload that is longer than what there is, only the beginning arrives.
  if (to && !payload.empty()) std::memcpy(to, payload.data(), std::min<size_t>(payload.size(), frame.size));
  if (payload.size() < frame.size) {
    script.is_broken = true;
    return script.host.broken(script.connection, CN_PEER_LOST, "the end of the bytes");
  }
  if (!script.host.end_frame(script.connection)) script.is_broken = true;
}

bool progress(cn_transport*) {
  bool did = false;
  if (script.begins) {
    script.begins = false;
    ++script.events;
    script.connection = script.host.accepted(script.endpoint, transport(), connection());
    if (!script.connection) std::abort();
    did = true;
  }
  if (std::exchange(script.connects, false)) {
    ++script.events;
    script.host.connected(script.connection);
    did = true;
  }
  for (const uint64_t cookie : std::exchange(script.cookies, {}))
    if (script.connection && !script.is_broken) script.host.sent(script.connection, cookie);
  for (const uint64_t cookie : std::exchange(script.moves, {}))
    if (script.connection && !script.is_broken) script.host.moved(script.connection, cookie, CN_OK, "");
  while (script.connection && !script.is_broken && script.next < script.frames.size()) {
    const auto frame = script.frames[script.next++];
    receive(frame.first, frame.second);
    did = true;
  }
  return did;
}

cn_status copy(cn_remote* remote, void* to, uint64_t* size, uint64_t cookie, bool* goes_on) {
  ++script.events;
  uint64_t& number = *reinterpret_cast<uint64_t*>(remote);
  if (number % 4 == 3) return CN_CANCELLED;
  if (number % 16 == 14) return CN_UNSUPPORTED;
  if (number % 16 == 13) return CN_PEER_LOST;
  if (number % 16 == 12) {
    *goes_on = true;
    script.moves.push_back(cookie);
    return CN_OK;
  }
  *size = std::min<uint64_t>(*size, 50'000);
  if (to) std::memset(to, 0x77, *size);
  return CN_OK;
}

cn_transport_table make_table() {
  cn_transport_table table{};
  table.struct_size = sizeof table;
  table.version = CN_TRANSPORT_VERSION;
  table.name = "script";
  table.schemes = "script";
  table.open = [](const cn_transport_host* host, cn_host_endpoint* endpoint, const cn_transport_settings*,
                  cn_transport** opened) {
    script.host = *host;
    script.endpoint = endpoint;
    *opened = transport();
    return CN_OK;
  };
  table.close = [](cn_transport*) {};
  table.address = [](cn_transport*) { return ""; };
  table.descriptor = [](cn_transport*) { return -1; };
  table.progress = progress;
  table.connect = [](cn_transport*, const char*, cn_host_connection* host, cn_connection** opened) {
    if (script.connection) return CN_UNREACHABLE;
    script.connection = host;
    script.connects = true;
    *opened = connection();
    return CN_OK;
  };
  table.disconnect = [](cn_connection*) {
    script.connection = nullptr;
    ++script.events;
  };
  table.send = [](cn_connection*, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
    Frame frame;
    std::memcpy(&frame, header, sizeof frame);
    const auto* const from = static_cast<const uint8_t*>(payload);
    script.sent.emplace_back(frame, std::vector<uint8_t>(from, from + size));
    if (cookie != 0) script.cookies.push_back(cookie);
    ++script.events;
    return true;
  };
  table.flush = [](cn_connection*) {};
  table.detach = [](cn_connection*, const void*, uint64_t) {};
  table.has_unsent = [](cn_connection*) { return false; };
  // What the peer has is nowhere: the fuzzer chooses by its grants what becomes of copies.
  table.reaches_memory = [](cn_connection*) { return true; };
  table.expose = [](cn_connection*, const cn_region*, cn_grant* grant) {
    grant->number = script.grant;
    return script.grant % 8 == 7 ? CN_UNSUPPORTED : CN_OK;
  };
  table.revoke = [](cn_connection*, uint64_t) {
    ++script.grant;
    return true;
  };
  table.forget = [](cn_transport*, uint64_t) {};
  table.open_remote = [](cn_connection*, const cn_grant* grant, uint64_t, cn_remote** remote) {
    if (grant->number % 16 == 15) return CN_UNSUPPORTED;
    *remote = reinterpret_cast<cn_remote*>(new uint64_t(grant->number));
    return CN_OK;
  };
  table.close_remote = [](cn_connection*, cn_remote* remote) { delete reinterpret_cast<uint64_t*>(remote); };
  table.get = [](cn_connection*, cn_remote* remote, uint64_t, void* to, uint64_t* size, uint64_t cookie,
                 bool* goes_on) { return copy(remote, to, size, cookie, goes_on); };
  table.put = [](cn_connection*, cn_remote* remote, uint64_t, const void*, uint64_t* size, uint64_t cookie,
                 bool* goes_on) { return copy(remote, nullptr, size, cookie, goes_on); };
  table.rest = [](cn_transport*) { return true; };
  return table;
}

struct World {
  cn_endpoint* endpoint = nullptr;
  // Between the cells lies what must not be touched: AddressSanitizer watches over it.
  std::vector<uint8_t> readable = std::vector<uint8_t>(100'000, 1), writable = std::vector<uint8_t>(100'000, 2);
  std::vector<uint8_t> destination = std::vector<uint8_t>(100'000);
  const std::vector<uint8_t> untouched = readable;
  cn_memory *one = nullptr, *two = nullptr;
  cn_token can_read{}, can_write{};

  World() {
    static const cn_transport_table table = make_table();
    if (cn_register_transport(&table) != CN_OK) std::abort();
    cn_endpoint_options options{};
    options.struct_size = sizeof options;
    options.name = "a";
    options.transports = "script";
    options.flags = CN_MANUAL_PROGRESS;
    options.receive_window = 300'000;
    options.message_limit = 200'000;
    if (cn_endpoint_create(&options, &endpoint) != CN_OK) std::abort();
    cn_set_handler(
        endpoint, 1, [](void*, cn_message*) {}, nullptr);
    cn_memory_register(endpoint, readable.data(), readable.size(), CN_READ, &one);
    cn_memory_register(endpoint, writable.data(), writable.size(), CN_WRITE, &two);
    cn_memory_token(one, CN_READ, &can_read);
    cn_memory_token(two, CN_WRITE, &can_write);
  }

  // Makes progress until nothing happens any more.
  void run() const {
    for (int idle = 0; idle < 2;) {
      const uint64_t before = script.events;
      cn_progress(endpoint, 0);
      idle = script.events == before ? idle + 1 : 0;
    }
  }
};

void add_frame(Frame frame, std::vector<uint8_t> payload) {
  frame.size = payload.size();
  script.frames.emplace_back(frame, std::move(payload));
}

template <class Content>
std::vector<uint8_t> bytes_of(const Content& content) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&content);
  return {bytes, bytes + sizeof content};
}

void greet(const World& world) {
  std::vector<uint8_t> hello = bytes_of(Hello{kProtocolVersion, 0, 64 << 10, 1 << 20, {}, {}});
  hello.push_back('r');
  add_frame({.type = FrameType::kHello}, hello);
  world.run();
  if (script.sent.empty()) std::abort();
  const std::vector<uint8_t> challenge = script.sent.back().second;
  const Proof proof = prove(key_of({}), "connects", {hello, challenge});
  add_frame({.type = FrameType::kProof}, {proof.begin(), proof.end()});
  world.run();
}

// Answers the greeting of the endpoint, which has begun the connection, with a status at its end.
void answer(const World& world, uint32_t status) {
  if (script.sent.empty()) std::abort();
  const std::vector<uint8_t> hello = script.sent.back().second;
  std::vector<uint8_t> challenge = bytes_of(Challenge{});
  challenge.push_back('r');
  add_frame({.type = FrameType::kChallenge}, challenge);
  world.run();
  Welcome welcome{status, 0, 64 << 10, 1 << 20, {}, {}};
  welcome.proof = prove(key_of({}), "accepts", {hello, challenge, bytes_of(welcome)});
  add_frame({.type = FrameType::kWelcome}, bytes_of(welcome));
  world.run();
}

class Input {
 public:
  Input(const uint8_t* bytes, size_t size) : bytes_(bytes), left_(size) {}
  bool is_empty() const { return left_ == 0; }
  uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *bytes_++;
  }
  // Numbers of interest are much more frequent than others.
  uint64_t number() {
    static constexpr uint64_t kInteresting[] = {0,
                                                1,
                                                2,
                                                3,
                                                10,
                                                100,
                                                16'384,
                                                16'385,
                                                65'536,
                                                99'999,
                                                100'000,
                                                100'001,
                                                200'000,
                                                300'000,
                                                uint64_t{1} << 32,
                                                uint64_t{1} << 63,
                                                UINT64_MAX - 5,
                                                UINT64_MAX};
    const uint8_t kind = byte();
    if (kind < std::size(kInteresting)) return kInteresting[kind];
    if (kind < 200) return kind;
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }

 private:
  const uint8_t* bytes_;
  size_t left_;
};

Frame make_frame(Input& input, const World& world, std::vector<uint8_t>& payload) {
  Frame frame{};
  const uint8_t kind = input.byte();
  frame.type = static_cast<FrameType>(kind % 22);
  frame.flags = input.byte() % 4;
  frame.status = input.byte() % 20;
  frame.a = static_cast<uint32_t>(input.number() % 3);
  frame.b = static_cast<uint32_t>(input.number() % 3);
  frame.id = input.number();
  frame.offset = input.number();
  frame.total = input.number();
  if (kind >= 128 && (frame.type == FrameType::kRead || frame.type == FrameType::kWrite)) {
    payload = bytes_of(Request{input.byte() % 2 ? world.can_read : world.can_write, input.number(), input.number()});
  } else if (kind >= 128 && frame.type == FrameType::kOpen) {
    payload = bytes_of(input.byte() % 2 ? world.can_read : world.can_write);
  } else if (kind >= 128 && frame.type == FrameType::kOpened) {
    const uint64_t size = input.number(), rights = input.number();
    payload = bytes_of(Opened{size, rights, {input.number(), 0, {}}});
    payload.resize(kOpenedHead);
  }
  const uint64_t more = input.number();
  payload.resize(payload.size() + std::min<uint64_t>(more, 100'001), input.byte());
  frame.size = input.byte() % 16 == 0 ? input.number() : payload.size();
  if (frame.size < payload.size()) payload.resize(frame.size);
  return frame;
}

}  // namespace

void try_out(const uint8_t* bytes, size_t size, Start start) {
  static World& world = *new World;
  Input input(bytes, size);
  script.frames.clear();
  script.next = 0;
  script.sent.clear();
  script.cookies.clear();
  script.moves.clear();
  script.is_broken = false;
  cn_operation* operations[3] = {};
  if (start == Start::kAnswers) {
    if (cn_connect(world.endpoint, "script:r", nullptr, &operations[0]) != CN_OK) std::abort();
  } else {
    script.begins = true;
  }
  world.run();
  if (start == Start::kAnswers && input.byte() % 4 != 0) answer(world, input.byte() % 20);
  if (start == Start::kPeer) {
    greet(world);
    cn_peer* const peer = cn_find_peer(world.endpoint, "r");
    if (!peer) std::abort();
    cn_read(peer, &world.can_read, 0, world.destination.data(), world.destination.size(), nullptr, &operations[0]);
    cn_write(peer, &world.can_write, 0, world.destination.data(), world.destination.size(), nullptr, &operations[1]);
    cn_send(peer, 1, 0, world.destination.data(), world.destination.size(), nullptr, &operations[2]);
  }
  while (!input.is_empty() && !script.is_broken) {
    // Some time passes between frames.
    do {
      std::vector<uint8_t> payload;
      const Frame frame = make_frame(input, world, payload);
      script.frames.emplace_back(frame, std::move(payload));
    } while (input.byte() % 4 != 0);
    cn_progress(world.endpoint, 0);
    const uint8_t act = input.byte();
    if (act % 16 < 3) cn_cancel(operations[act % 16]);
  }
  world.run();
  // No write to what can only be read.
  if (world.readable != world.untouched) std::abort();
  if (start == Start::kAnswers) cn_cancel(operations[0]);
  if (cn_peer* const peer = cn_find_peer(world.endpoint, "r")) cn_disconnect(peer);
  if (script.connection && !script.is_broken) {
    script.is_broken = true;
    script.host.broken(script.connection, CN_PEER_LOST, "the end");
  }
  world.run();
  for (cn_operation* const operation : operations) {
    if (operation && !cn_test(operation, nullptr)) std::abort();
    cn_operation_release(operation);
  }
  if (script.connection) std::abort();
}

}  // namespace commnet::fuzz
