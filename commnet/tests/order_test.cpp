// Tests that no message is lost, and that none overtakes another one of its channel.
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

constexpr uint32_t kChannels = 5;

struct Head {
  uint64_t number;  // within the channel
  uint64_t size;
};

struct Received {
  uint64_t next[kChannels] = {};
  std::atomic<uint64_t> count{0}, wrong{0};

  static void take(void* user, cn_message* message) {
    Received& all = *static_cast<Received*>(user);
    Head head{};
    std::memcpy(&head, cn_message_data(message), sizeof head);
    const auto* const bytes = static_cast<const uint8_t*>(cn_message_data(message));
    const size_t size = cn_message_size(message);
    const bool is_right = head.number == all.next[cn_message_channel(message)]++ && head.size == size &&
                          (size == sizeof head || bytes[size - 1] == static_cast<uint8_t>(head.number));
    if (!is_right) ++all.wrong;
    ++all.count;
  }
};

uint64_t random_size(std::mt19937_64& random) {
  const uint64_t kind = random() % 1000;
  if (kind == 0) return random() % 2'500'000;
  if (kind < 10) return random() % 100'000;
  return random() % 300;
}

class Order : public testing::TestWithParam<const char*> {};

TEST_P(Order, NothingIsLostOrOvertaken) {
  const EndpointHandle a = make_endpoint("a", GetParam()), b = make_endpoint("b", GetParam());
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  ASSERT_NE(to_b, nullptr);
  Received received;
  ASSERT_EQ(cn_set_handler(b.get(), 1, Received::take, &received), CN_OK);
  std::mt19937_64 random(7);
  uint64_t next[kChannels] = {};
  std::vector<uint8_t> bytes(2'600'000);
  cn_call call{};
  call.struct_size = sizeof call;
  call.flags = CN_COPY;
  const uint64_t total = number_of("COMMNET_MESSAGES", 100'000);
  for (uint64_t i = 0; i < total;) {
    const auto channel = static_cast<uint32_t>(random() % kChannels);
    const Head head{next[channel], sizeof(Head) + random_size(random)};
    std::memcpy(bytes.data(), &head, sizeof head);
    if (head.size > sizeof head) bytes[head.size - 1] = static_cast<uint8_t>(head.number);
    cn_status status;
    while ((status = cn_send(to_b, 1, channel, bytes.data(), head.size, &call, nullptr)) == CN_FULL)
      std::this_thread::yield();
    ASSERT_EQ(status, CN_OK) << cn_error();
    ++next[channel];
    ++i;
  }
  EXPECT_TRUE(soon([&] { return received.count == total; })) << received.count;
  EXPECT_EQ(received.wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(Transports, Order, testing::Values("memory", "shared", "unix", "tcp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
