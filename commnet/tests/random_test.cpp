// Tests random schedules of everything that endpoints do against a model of what must come of it.
//
// COMMNET_SECONDS says for how long each transport is tested (default: 2), COMMNET_SEED with which first seed. A
// failure names its seed.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kChannels = 3;
// Each endpoint exposes cells of this many bytes. All bytes of a cell are the same, whoever wrote it last, as nobody
// writes to a cell while another operation uses it.
constexpr size_t kCell = 600'000, kCells = 4;

struct Head {
  uint64_t sender, channel, session, number, size;
};

// What arrives at an endpoint. Messages of one sender, channel and session have rising numbers without gaps, but for
// those that were cancelled.
struct Inbox {
  std::map<std::array<uint64_t, 3>, uint64_t> last;
  std::atomic<uint64_t> count{0}, wrong{0};
  std::mutex mutex;
  std::vector<cn_message*> kept;
  uint64_t turn = 0;

  static void take(void* user, cn_message* message) { static_cast<Inbox*>(user)->take(message); }
  void take(cn_message* message) {
    Head head{};
    const auto* const bytes = static_cast<const uint8_t*>(cn_message_data(message));
    if (cn_message_size(message) < sizeof head) {
      ++wrong;
      return;
    }
    std::memcpy(&head, bytes, sizeof head);
    uint64_t& before = last[{head.sender, head.channel, head.session}];
    bool is_right = head.size == cn_message_size(message) && head.channel == cn_message_channel(message) &&
                    head.number > before && cn_peer_name(cn_message_peer(message)) == "e" + std::to_string(head.sender);
    before = head.number;
    for (size_t i = sizeof head; i < head.size && is_right; i += 997)
      is_right = bytes[i] == static_cast<uint8_t>(head.number);
    if (!is_right) ++wrong;
    ++count;
    if (++turn % 7 == 0) {
      const std::lock_guard lock(mutex);
      cn_message_keep(message);
      kept.push_back(message);
      if (kept.size() > 5) release();
    }
  }
  void release() {
    for (cn_message* const message : kept) cn_message_release(message);
    kept.clear();
  }
};

// An operation that is under way, with what it uses.
struct Under {
  cn_operation* operation = nullptr;
  std::unique_ptr<std::vector<uint8_t>> bytes;
  enum { kSend, kRead, kWrite } kind = kSend;
  size_t owner = 0, cell = 0;
  uint8_t value = 0;
  std::unique_ptr<std::atomic<int>> calls;
  bool was_cancelled = false;
};

class World {
 public:
  World(uint64_t seed, const std::string& kind) : random_(seed), kind_(kind) {
    const size_t count = 2 + random_() % 7;
    for (size_t i = 0; i < count; ++i) {
      nodes_.push_back(std::make_unique<Node>());
      open(i);
    }
  }
  ~World() {
    for (auto& each : under_) settle(*each);
    for (auto& node : nodes_) {
      cn_queue_release(node->queue);
      for (cn_memory* const memory : node->memories) cn_memory_release(memory);
      {
        const std::lock_guard lock(node->inbox.mutex);
        node->inbox.release();
      }
      node->endpoint.reset();
      EXPECT_EQ(node->inbox.wrong, 0u);
    }
  }

  void step() {
    const size_t from = random_() % nodes_.size(), to = (from + 1 + random_() % (nodes_.size() - 1)) % nodes_.size();
    switch (random_() % 40) {
      case 0:
        if (cn_peer* const peer = peer_of(from, to)) cn_disconnect(peer);
        break;
      case 1:
        return renew(to);
      case 2:
      case 3:
        return release_memory(from);
      case 4:
      case 5:
      case 6:
      case 7:
        if (under_.empty()) return;
        {
          Under& each = *under_[random_() % under_.size()];
          each.was_cancelled = true;
          cn_cancel(each.operation);
        }
        break;
      default: {
        cn_peer* const peer = peer_of(from, to);
        if (!peer) return connect_both(from, to);
        const uint64_t what = random_() % 3;
        if (what == 0) return send(from, peer);
        return access(peer, from, to, what == 1);
      }
    }
    if (under_.size() > 30) settle_some();
  }

 private:
  struct Node {
    EndpointHandle endpoint;
    Inbox inbox;
    cn_queue* queue = nullptr;
    std::vector<std::vector<uint8_t>> cells;
    std::vector<int> users = std::vector<int>(kCells);  // operations that use a cell; -1: one that writes
    std::vector<cn_memory*> memories;
    std::vector<cn_token> tokens;
    uint64_t session = 0;
    uint64_t number = 0;
  };

  void open(size_t i) {
    Node& node = *nodes_[i];
    node.endpoint = make_endpoint("e" + std::to_string(i), kind_, [&](auto& options) {
      options.receive_window = 1 << (10 + random_() % 14);
      options.streams = 1 + random_() % 4;
      options.busy_poll_us = random_() % 4 == 0 ? 50 : 0;
    });
    ASSERT_EQ(cn_set_handler(node.endpoint.get(), 1, Inbox::take, &node.inbox), CN_OK);
    ASSERT_EQ(cn_queue_create(node.endpoint.get(), &node.queue), CN_OK);
    if (node.cells.empty())
      for (size_t cell = 0; cell < kCells; ++cell) node.cells.emplace_back(kCell, uint8_t{1});
    node.memories.assign(kCells, nullptr);
    node.tokens.resize(kCells);
    for (size_t cell = 0; cell < kCells; ++cell) expose(node, cell);
    ++node.session;
  }
  static void expose(Node& node, size_t cell) {
    ASSERT_EQ(cn_memory_register(node.endpoint.get(), node.cells[cell].data(), kCell, CN_READ | CN_WRITE,
                                 &node.memories[cell]),
              CN_OK);
    ASSERT_EQ(cn_memory_token(node.memories[cell], CN_READ | CN_WRITE, &node.tokens[cell]), CN_OK);
  }

  cn_peer* peer_of(size_t from, size_t to) {
    return cn_find_peer(nodes_[from]->endpoint.get(), ("e" + std::to_string(to)).c_str());
  }

  // Both sides connect at about the same time.
  void connect_both(size_t from, size_t to) {
    cn_operation *one = nullptr, *two = nullptr;
    std::string there = cn_endpoint_address(nodes_[to]->endpoint.get()),
                here = cn_endpoint_address(nodes_[from]->endpoint.get());
    if (random_() % 4 == 0) there = there.substr(there.find('@') + 1), here = here.substr(here.find('@') + 1);
    EXPECT_EQ(cn_connect(nodes_[from]->endpoint.get(), there.c_str(), nullptr, &one), CN_OK) << cn_error();
    if (random_() % 2) {
      EXPECT_EQ(cn_connect(nodes_[to]->endpoint.get(), here.c_str(), nullptr, &two), CN_OK) << cn_error();
    }
    for (cn_operation* const each : {one, two}) {
      if (!each) continue;
      if (random_() % 8 == 0) {
        cn_cancel(each);
        EXPECT_TRUE(cn_test(each, nullptr));
      } else {
        const cn_status status = cn_wait(each, kPatience);
        EXPECT_TRUE(status == CN_OK || status == CN_UNREACHABLE) << cn_status_name(status) << ": " << cn_error();
      }
      cn_operation_release(each);
    }
  }

  void prepare(Under& under, cn_call& call, size_t from) {
    call.struct_size = sizeof call;
    if (random_() % 3 == 0) call.queue = nodes_[from]->queue;
    if (random_() % 8 == 0) call.timeout_ms = 1 + random_() % 20;
    if (random_() % 2) {
      under.calls = std::make_unique<std::atomic<int>>(0);
      call.user = under.calls.get();
      call.done = [](void* user, cn_status, const char*) { ++*static_cast<std::atomic<int>*>(user); };
    }
  }

  void send(size_t from, cn_peer* peer) {
    Node& node = *nodes_[from];
    auto under = std::make_unique<Under>();
    const Head head{from, random_() % kChannels, node.session, ++node.number,
                    sizeof(Head) + (random_() % 10 == 0 ? random_() % 1'500'000 : random_() % 2000)};
    under->bytes = std::make_unique<std::vector<uint8_t>>(head.size, static_cast<uint8_t>(head.number));
    std::memcpy(under->bytes->data(), &head, sizeof head);
    cn_call call{};
    prepare(*under, call, from);
    if (random_() % 3 == 0) call.flags |= CN_COPY;
    const cn_status status = cn_send(peer, 1, static_cast<uint32_t>(head.channel), under->bytes->data(), head.size,
                                     &call, &under->operation);
    if (call.flags & CN_COPY) std::fill(under->bytes->begin(), under->bytes->end(), 0xee);
    EXPECT_TRUE(status == CN_OK || status == CN_PEER_LOST || status == CN_FULL) << cn_status_name(status) << cn_error();
    if (status == CN_OK) under_.push_back(std::move(under));
  }

  void access(cn_peer* peer, size_t from, size_t to, bool reads) {
    Node& there = *nodes_[to];
    const size_t cell = random_() % kCells;
    if (there.users[cell] < 0 || (!reads && there.users[cell] > 0)) return;
    auto under = std::make_unique<Under>();
    under->kind = reads ? Under::kRead : Under::kWrite;
    under->owner = to;
    under->cell = cell;
    under->value = static_cast<uint8_t>(random_());
    const size_t size = random_() % 3 ? kCell : random_() % 20'000;
    const uint64_t offset = reads ? random_() % (kCell - size + 1) : 0;
    // A write is of the whole cell, or of bytes that change nothing.
    const bool whole = size == kCell;
    if (!reads && !whole) under->value = there.cells[cell][0];
    under->bytes = std::make_unique<std::vector<uint8_t>>(size, reads ? uint8_t{0xaa} : under->value);
    cn_call call{};
    prepare(*under, call, from);
    const cn_token& token = there.tokens[cell];
    const cn_status status = reads
                                 ? cn_read(peer, &token, offset, under->bytes->data(), size, &call, &under->operation)
                                 : cn_write(peer, &token, offset, under->bytes->data(), size, &call, &under->operation);
    EXPECT_TRUE(status == CN_OK || status == CN_PEER_LOST) << cn_status_name(status) << cn_error();
    if (status != CN_OK) return;
    there.users[cell] = reads ? there.users[cell] + 1 : -1;
    under_.push_back(std::move(under));
  }

  void settle(Under& under) {
    // Messages that are kept stop others.
    for (int i = 0; i < 100 && !cn_test(under.operation, nullptr); ++i) {
      cn_wait(under.operation, 100);
      for (auto& node : nodes_) {
        const std::lock_guard lock(node->inbox.mutex);
        node->inbox.release();
      }
    }
    const cn_status status = cn_wait(under.operation, 0);
    EXPECT_TRUE(cn_test(under.operation, nullptr)) << "an operation never ends";
    const bool was_told = !under.calls || soon([&] { return under.calls->load() == 1; });
    EXPECT_TRUE(was_told) << under.calls->load();
    EXPECT_TRUE(status == CN_OK || status == CN_CANCELLED || status == CN_PEER_LOST || status == CN_TIMED_OUT ||
                status == CN_DENIED || status == CN_SYSTEM_ERROR)
        << cn_status_name(status) << ": " << cn_error();
    if (under.kind != Under::kSend) {
      Node& there = *nodes_[under.owner];
      std::vector<uint8_t>& cell = there.cells[under.cell];
      there.users[under.cell] = under.kind == Under::kRead ? there.users[under.cell] - 1 : 0;
      if (status == CN_OK) {
        for (const uint8_t byte : *under.bytes)
          if (byte != cell[0]) {
            ADD_FAILURE() << "wrong bytes";
            break;
          }
      }
      // A write that has failed may have written something, and its pieces may still arrive: a fresh cell follows.
      if (under.kind == Under::kWrite && status != CN_OK) renew_cell(there, under.cell);
    }
    under.bytes.reset();
    cn_operation_release(under.operation);
  }
  void renew_cell(Node& node, size_t cell) {
    cn_memory_release(node.memories[cell]);
    std::fill(node.cells[cell].begin(), node.cells[cell].end(), static_cast<uint8_t>(random_()));
    expose(node, cell);
  }
  void settle_some() {
    while (under_.size() > 10) {
      const size_t i = random_() % under_.size();
      settle(*under_[i]);
      under_.erase(under_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // The bytes may go as soon as they are no longer registered.
  void release_memory(size_t i) {
    Node& node = *nodes_[i];
    const size_t cell = random_() % kCells;
    cn_memory_release(node.memories[cell]);
    std::vector<uint8_t> fresh(kCell, node.cells[cell][0]);
    if (node.users[cell] == 0) node.cells[cell].swap(fresh);
    expose(node, cell);
  }

  // An endpoint ends, and another one of its name begins.
  void renew(size_t i) {
    Node& node = *nodes_[i];
    cn_queue_release(node.queue);
    for (cn_memory*& memory : node.memories) cn_memory_release(std::exchange(memory, nullptr));
    {
      const std::lock_guard lock(node.inbox.mutex);
      node.inbox.release();
    }
    node.endpoint.reset();
    open(i);
  }

  std::mt19937_64 random_;
  const std::string kind_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Under>> under_;
};

class Random : public testing::TestWithParam<const char*> {};

TEST_P(Random, SchedulesFollowTheModel) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(number_of("COMMNET_SECONDS", 2));
  for (uint64_t seed = number_of("COMMNET_SEED", 1); Clock::now() < end && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, GetParam());
    for (int i = 0; i < 300 && !HasFailure(); ++i) world.step();
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, Random, testing::Values("memory", "shared", "unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
