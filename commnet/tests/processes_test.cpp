// Tests peers that are other processes: that die, that stop, and that fork.
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

// A child process that runs an endpoint until it is killed.
class Child {
 public:
  // Must be called before this process has endpoints.
  explicit Child(const std::string& name, const char* way) {
    int ends[2];
    if (pipe(ends) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      // With the default timeout, which leaves busy machines time for handshakes.
      cn_endpoint* const endpoint = make_endpoint(name, way).release();
      const auto echo = [](void*, cn_message* message) {
        cn_call call{};
        call.struct_size = sizeof call;
        call.flags = CN_COPY;
        cn_send(cn_message_peer(message), 1, 0, cn_message_data(message), cn_message_size(message), &call, nullptr);
      };
      cn_set_handler(endpoint, 1, echo, nullptr);
      const std::string address = cn_endpoint_address(endpoint);
      if (write(ends[1], address.data(), address.size()) < 0) _exit(1);
      close(ends[1]);
      for (;;) pause();
    }
    close(ends[1]);
    char text[1024];
    const ssize_t size = read(ends[0], text, sizeof text);
    close(ends[0]);
    address_.assign(text, size > 0 ? static_cast<size_t>(size) : 0);
  }
  ~Child() { kill(); }
  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  void stop() const { ::kill(process_, SIGSTOP); }
  const std::string& address() const { return address_; }

 private:
  pid_t process_ = -1;
  std::string address_;
};

class Processes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    lost = std::make_unique<Child>("lost", GetParam());
    other = std::make_unique<Child>("other", GetParam());
    a = make_endpoint("a", GetParam(), [&](auto& options) { options.peer_timeout_ms = 1000; });
    const auto count = [](void* user, cn_message*) { ++*static_cast<std::atomic<int>*>(user); };
    ASSERT_EQ(cn_set_handler(a.get(), 1, count, &answers), CN_OK);
    to_lost = connect(a.get(), lost->address().c_str());
    to_other = connect(a.get(), other->address().c_str());
    ASSERT_NE(to_lost, nullptr);
    ASSERT_NE(to_other, nullptr);
  }
  // An operation that does not end by itself: nobody has a handler for the messages.
  cn_operation* begin() {
    for (int i = 0; i < 4; ++i) {
      cn_operation* operation = nullptr;
      EXPECT_EQ(cn_send(to_lost, 99, 0, bytes.data(), bytes.size(), nullptr, &operation), CN_OK) << cn_error();
      if (i == 3) return operation;
      cn_operation_release(operation);
    }
    return nullptr;
  }
  void expect_lost(cn_operation* operation) {
    EXPECT_EQ(cn_wait(operation, kPatience), CN_PEER_LOST);
    EXPECT_NE(std::string(cn_error()).find("'lost'"), std::string::npos) << cn_error();
    cn_operation_release(operation);
    EXPECT_FALSE(cn_peer_is_connected(to_lost));
    // The others go on.
    answers = 0;
    EXPECT_TRUE(cn_peer_is_connected(to_other));
    EXPECT_EQ(cn_send(to_other, 1, 0, "x", 1, nullptr, nullptr), CN_OK);
    EXPECT_TRUE(soon([&] { return answers == 1; }));
    EXPECT_EQ(cn_send(to_lost, 1, 0, "x", 1, nullptr, nullptr), CN_PEER_LOST);
  }

  const std::vector<char> bytes = std::vector<char>(7 << 20);
  std::unique_ptr<Child> lost, other;
  EndpointHandle a;
  cn_peer *to_lost = nullptr, *to_other = nullptr;
  std::atomic<int> answers{0};
};

TEST_P(Processes, APeerThatIsKilledIsLost) {
  cn_operation* const operation = begin();
  lost->kill();
  expect_lost(operation);
}

TEST_P(Processes, APeerThatStopsIsLostAfterItsTimeout) {
  cn_operation* const operation = begin();
  const auto begin = std::chrono::steady_clock::now();
  lost->stop();
  expect_lost(operation);
  // It may have been heard of last a while before it stopped.
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
}

TEST_P(Processes, PeersThatHaveNothingToSayStay) {
  usleep(2'500'000);
  EXPECT_TRUE(cn_peer_is_connected(to_lost));
  EXPECT_TRUE(cn_peer_is_connected(to_other));
}

TEST_P(Processes, TheChildOfAForkHasNoEndpoint) {
  std::vector<char> memory(100);
  cn_memory* registered = nullptr;
  ASSERT_EQ(cn_memory_register(a.get(), memory.data(), memory.size(), CN_READ, &registered), CN_OK);
  cn_operation* operation = begin();
  cn_queue* queue = nullptr;
  ASSERT_EQ(cn_queue_create(a.get(), &queue), CN_OK);
  std::atomic<bool> is_done{false};
  // Other threads may hold the lock when the process forks.
  std::thread busy([&] {
    while (!is_done) cn_find_peer(a.get(), "other");
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(10);
      cn_event event{};
      event.struct_size = sizeof event;
      cn_memory* another = nullptr;
      const bool is_right = cn_send(to_other, 1, 0, "x", 1, nullptr, nullptr) == CN_CLOSED &&
                            cn_connect(a.get(), other->address().c_str(), nullptr, nullptr) == CN_CLOSED &&
                            cn_wait(operation, 100) == CN_CLOSED && cn_next_event(a.get(), &event, 0) == CN_CLOSED &&
                            cn_memory_register(a.get(), memory.data(), 1, CN_READ, &another) == CN_CLOSED &&
                            cn_set_handler(a.get(), 3, nullptr, nullptr) == CN_CLOSED &&
                            cn_disconnect(to_other) == CN_CLOSED &&
                            cn_queue_mark(queue, nullptr, nullptr) == CN_CLOSED && !cn_peer_is_connected(to_other) &&
                            cn_find_peer(a.get(), "other") == nullptr;
      cn_cancel(operation);
      cn_operation_release(operation);
      cn_memory_release(registered);
      cn_queue_release(queue);
      cn_endpoint_close(a.get());
      // A child may have endpoints of its own.
      const EndpointHandle own = make_endpoint("own", GetParam());
      const cn_status works =
          complete([&](cn_operation** op) { return cn_connect(own.get(), other->address().c_str(), nullptr, op); });
      if (!is_right || works != CN_OK) std::fprintf(stderr, "%d, %s\n", is_right, cn_error());
      _exit(is_right && works == CN_OK ? 0 : 3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  is_done = true;
  busy.join();
  EXPECT_TRUE(cn_peer_is_connected(to_other));
  cn_cancel(operation);
  cn_operation_release(operation);
  cn_memory_release(registered);
  cn_queue_release(queue);
}

INSTANTIATE_TEST_SUITE_P(Transports, Processes, testing::Values("shared", "unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
