// Faults that there were once.
#include <unistd.h>

#include <atomic>

#include "support.h"

namespace commnet::tests {
namespace {

TEST(Regression, AMarkInAnEmptyQueueEndsAtOnce) {
  const EndpointHandle a = make_endpoint("a", "memory");
  cn_queue* queue = nullptr;
  ASSERT_EQ(cn_queue_create(a.get(), &queue), CN_OK);
  EXPECT_EQ(complete([&](cn_operation** op) { return cn_queue_mark(queue, nullptr, op); }), CN_OK) << cn_error();
  cn_queue_release(queue);
}

TEST(Regression, AnAddressWithoutANameMayHaveAnAtSignInItsUrl) {
  const EndpointHandle a = make_endpoint("a", "sockets"), b = make_endpoint("b", "sockets");
  const std::string address = cn_endpoint_address(b.get());
  const size_t begin = address.find("unix:@");
  ASSERT_NE(begin, std::string::npos) << address;
  cn_peer* const peer = connect(a.get(), address.substr(begin, address.find(',', begin) - begin).c_str());
  EXPECT_STREQ(cn_peer_name(peer), "b");
}

// Run with AddressSanitizer, it shows a message that is used after its handler has released it.
TEST(Regression, AHandlerMayKeepAndReleaseItsMessage) {
  const EndpointHandle a = make_endpoint("a", "memory"), b = make_endpoint("b", "memory");
  std::atomic<int> seen{0};
  const auto handler = [](void* user, cn_message* message) {
    cn_message_keep(message);
    cn_message_release(message);
    // Still valid, as the handler has not returned.
    if (std::string(static_cast<const char*>(cn_message_data(message)), cn_message_size(message)) == "some bytes")
      ++*static_cast<std::atomic<int>*>(user);
  };
  ASSERT_EQ(cn_set_handler(b.get(), 1, handler, &seen), CN_OK);
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, "some bytes", 10, nullptr, op); }), CN_OK);
  for (int i = 0; i < 2000 && seen < 100; ++i) usleep(1000);
  EXPECT_EQ(seen, 100);
}

// A peer that leaves closes several connections, which may be seen in any order.
TEST(Regression, LastWordsArriveBeforeTheEndOfFurtherConnections) {
  const auto over_tcp = [](cn_endpoint_options& options) {
    options.listen = "tcp://127.0.0.1:0";
    options.streams = 8;
  };
  const EndpointHandle b = make_endpoint("b", "sockets", over_tcp);
  std::atomic<int> heard{0};
  const auto handler = [](void* user, cn_message*) { ++*static_cast<std::atomic<int>*>(user); };
  ASSERT_EQ(cn_set_handler(b.get(), 1, handler, &heard), CN_OK);
  constexpr int kRounds = 100;
  for (int i = 0; i < kRounds; ++i) {
    const EndpointHandle a = make_endpoint("a" + std::to_string(i), "sockets", over_tcp);
    cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
    usleep(2000);  // for the further connections
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, "bye", 3, nullptr, op); }), CN_OK);
  }
  for (int i = 0; i < 2000 && heard < kRounds; ++i) usleep(1000);
  EXPECT_EQ(heard, kRounds);
}

}  // namespace
}  // namespace commnet::tests
