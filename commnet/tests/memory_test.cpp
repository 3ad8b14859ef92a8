// Tests that a process lives when it runs out of memory, and that each operation then has an end.
#include <atomic>
#include <string>
#include <vector>

#include "failing_new.h"
#include "support.h"

namespace commnet::tests {
namespace {

constexpr uint32_t kEcho = 1, kAnswer = 2;

// Two endpoints that exchange a bit of everything while allocations fail.
class Exchange {
 public:
  explicit Exchange(const std::string& transport)
      : a_(make("a", transport)), b_(make("b", transport)), there_(300'000, 7), here_(there_.size()) {
    EXPECT_EQ(cn_set_handler(b_.get(), kEcho, echo, nullptr), CN_OK);
    EXPECT_EQ(cn_set_event_handler(a_.get(), kAnswer, nullptr), CN_OK);
    EXPECT_EQ(cn_watch_peers(a_.get(), true), CN_OK);
    EXPECT_EQ(cn_memory_register(b_.get(), there_.data(), there_.size(), CN_READ | CN_WRITE, &memory_), CN_OK);
    EXPECT_EQ(cn_memory_token(memory_, CN_READ | CN_WRITE, &token_), CN_OK);
    EXPECT_EQ(cn_queue_create(a_.get(), &queue_), CN_OK);
  }
  ~Exchange() {
    cn_queue_release(queue_);
    cn_memory_release(memory_);
  }

  // Returns how many operations have ended well.
  int run() {
    const Spared spared;
    cn_peer* const peer = connect();
    const std::string text(40'000, 'x');  // until all has ended
    if (peer) {
      for (int i = 0; i < 3; ++i) {
        const size_t size = i == 1 ? text.size() : 10;
        begin([&](const cn_call* call) { return cn_send(peer, kEcho, 0, text.data(), size, call, nullptr); }, CN_COPY);
        begin([&](const cn_call* call) { return cn_send(peer, kEcho, 1, text.data(), size, call, nullptr); });
        begin([&](const cn_call* call) { return cn_read(peer, &token_, 0, here_.data(), size * 7, call, nullptr); });
        begin([&](const cn_call* call) { return cn_write(peer, &token_, 0, here_.data(), size * 7, call, nullptr); });
        begin([&](const cn_call* call) { return cn_queue_mark(queue_, call, nullptr); });
        begin([&](const cn_call* call) { return cn_read(peer, &token_, 0, here_.data(), 5, call, nullptr); }, CN_EVENT);
      }
    }
    // Each has exactly one end, however it ends.
    EXPECT_TRUE(soon([&] {
      take_events();
      return ended_ == begun_;
    })) << ended_
        << " of " << begun_;
    return good_;
  }

 private:
  static EndpointHandle make(const std::string& name, const std::string& transport) {
    return make_endpoint(name, transport, [](cn_endpoint_options& options) { options.peer_timeout_ms = 500; });
  }

  static void echo(void*, cn_message* message) {
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    cn_send(cn_message_peer(message), kAnswer, 0, cn_message_data(message), cn_message_size(message), &call, nullptr);
  }

  cn_peer* connect() {
    cn_operation* operation = nullptr;
    cn_status status;
    {
      const Spared fails(false);
      status = cn_connect(a_.get(), cn_endpoint_address(b_.get()), nullptr, &operation);
    }
    if (status != CN_OK) return nullptr;
    EXPECT_NE(cn_wait(operation, kPatience), CN_TIMED_OUT);
    cn_peer* const peer = cn_operation_peer(operation);
    cn_operation_release(operation);
    return peer;
  }

  template <class Begin>
  void begin(Begin&& start, uint32_t flags = 0) {
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = flags;
    call.user = this;
    call.queue = queue_;
    if (flags != CN_EVENT) call.done = done;
    ++begun_;
    const Spared fails(false);
    if (start(&call) != CN_OK) --begun_;
  }

  static void done(void* user, cn_status status, const char*) {
    auto& exchange = *static_cast<Exchange*>(user);
    if (status == CN_OK) ++exchange.good_;
    ++exchange.ended_;
  }

  void take_events() {
    cn_event event{};
    event.struct_size = sizeof event;
    while (cn_next_event(a_.get(), &event, 0) == CN_OK) {
      if (event.kind == CN_EVENT_DONE) done(event.user, event.status, event.error);
      cn_message_release(event.message);
    }
  }

  EndpointHandle a_, b_;
  std::vector<char> there_, here_;
  cn_memory* memory_ = nullptr;
  cn_token token_{};
  cn_queue* queue_ = nullptr;
  std::atomic<int> begun_{0}, ended_{0}, good_{0};
};

class OutOfMemory : public testing::TestWithParam<const char*> {};

TEST_P(OutOfMemory, EachOperationHasAnEnd) {
  if (std::string(GetParam()) == "ucx" && !is_available("ucx")) GTEST_SKIP() << cn_error();
  int64_t all = 0;
  {
    Exchange exchange(GetParam());
    fail_allocations(INT64_MAX / 2, 1);
    EXPECT_EQ(exchange.run(), 18);
    all = allocations();
    fail_allocations(0, 0);
  }
  ASSERT_GT(all, 100);
  // One allocation fails, or a series of them. UCX takes long to begin.
  const int64_t rarely = std::string(GetParam()) == "ucx" ? 5 : 1;
  for (const int64_t count : {1, 20}) {
    for (int64_t first = 0; first < all; first += rarely * (count == 1 ? 1 : 7)) {
      Exchange exchange(GetParam());
      fail_allocations(first, count);
      exchange.run();
      fail_allocations(0, 0);
      ASSERT_FALSE(HasFailure()) << "allocation " << first << " of " << all << ", " << count << " fail";
    }
  }
}

TEST_P(OutOfMemory, EndpointsAreCreatedOrNot) {
  const std::string transport = GetParam();
  for (int64_t first = 0; first < 200; ++first) {
    cn_endpoint_options options{};
    options.struct_size = sizeof options;
    options.name = "a name that is longer than a short text";
    options.transports = transport == "memory" || transport == "shared" ? transport.c_str() : "sockets";
    if (transport == "tcp") options.listen = "tcp://127.0.0.1:0";
    cn_endpoint* endpoint = nullptr;
    fail_allocations(first, 1);
    const cn_status status = cn_endpoint_create(&options, &endpoint);
    fail_allocations(0, 0);
    EXPECT_TRUE(status == CN_OK || status == CN_OUT_OF_MEMORY) << cn_error();
    cn_endpoint_close(endpoint);
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, OutOfMemory, testing::Values("memory", "shared", "unix", "tcp", "ucx"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
