// Tests messages, reads and writes over every transport.
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <vector>

#include "support.h"

namespace commnet::tests {
namespace {

class Basic : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "ucx" && !is_available("ucx")) GTEST_SKIP() << cn_error();
    a = make_endpoint("a", GetParam());
    b = make_endpoint("b", GetParam());
    to_b = connect(a.get(), cn_endpoint_address(b.get()));
    ASSERT_NE(to_b, nullptr);
  }

  EndpointHandle a, b;
  cn_peer* to_b = nullptr;
};

TEST_P(Basic, MessagesArriveInOrder) {
  struct Seen {
    std::mutex mutex;
    std::vector<uint64_t> sizes;
    std::atomic<size_t> count{0};
    bool is_right = true;
  } seen;
  const auto handler = [](void* user, cn_message* message) {
    Seen& all = *static_cast<Seen*>(user);
    const auto* bytes = static_cast<const uint8_t*>(cn_message_data(message));
    const std::lock_guard lock(all.mutex);
    const size_t size = cn_message_size(message);
    for (size_t i = 0; i < size; ++i) all.is_right &= bytes[i] == static_cast<uint8_t>(i * 7 + size);
    all.sizes.push_back(size);
    ++all.count;
  };
  ASSERT_EQ(cn_set_handler(b.get(), 5, handler, &seen), CN_OK);
  std::vector<uint64_t> sizes;
  for (const uint64_t size : {0, 1, 64, 65536, 100, 3'000'000, 7, 1048576, 1048577, 12}) sizes.push_back(size);
  for (const uint64_t size : sizes) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + size);
    cn_operation* operation = nullptr;
    ASSERT_EQ(cn_send(to_b, 5, 1, bytes.data(), size, nullptr, &operation), CN_OK) << cn_error();
    ASSERT_EQ(cn_wait(operation, kPatience), CN_OK) << cn_error();
    cn_operation_release(operation);
  }
  for (int i = 0; i < 2000 && seen.count < sizes.size(); ++i) usleep(1000);
  const std::lock_guard lock(seen.mutex);
  EXPECT_EQ(seen.sizes, sizes);
  EXPECT_TRUE(seen.is_right);
}

TEST_P(Basic, ReadsAndWritesReachMemory) {
  for (const size_t size : {1u, 100u, 16384u, 16385u, 70'000u, 1u << 20, 5'000'003u}) {
    std::vector<uint8_t> there(size + 10), here(size);
    std::iota(there.begin(), there.end(), uint8_t(3));
    cn_memory* memory = nullptr;
    ASSERT_EQ(cn_memory_register(b.get(), there.data(), there.size(), CN_READ | CN_WRITE, &memory), CN_OK);
    cn_token token;
    ASSERT_EQ(cn_memory_token(memory, CN_READ | CN_WRITE, &token), CN_OK);
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_read(to_b, &token, 7, here.data(), size, nullptr, op); }),
              CN_OK)
        << cn_error();
    EXPECT_EQ(std::memcmp(here.data(), there.data() + 7, size), 0) << size;
    for (uint8_t& byte : here) byte = static_cast<uint8_t>(byte * 3 + 1);
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_write(to_b, &token, 3, here.data(), size, nullptr, op); }),
              CN_OK)
        << cn_error();
    EXPECT_EQ(std::memcmp(here.data(), there.data() + 3, size), 0) << size;
    EXPECT_EQ(there[2], 5);
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_read(to_b, &token, 11, here.data(), size, nullptr, op); }),
              CN_OUT_OF_RANGE);
    cn_memory_release(memory);
    EXPECT_EQ(complete([&](cn_operation** op) { return cn_read(to_b, &token, 7, here.data(), size, nullptr, op); }),
              CN_DENIED);
  }
}

TEST_P(Basic, ALostPeerFailsItsOperations) {
  std::vector<uint8_t> here(10);
  cn_token token{};
  b.reset();
  const cn_status status =
      complete([&](cn_operation** op) { return cn_read(to_b, &token, 7, here.data(), 10, nullptr, op); });
  EXPECT_EQ(status, CN_PEER_LOST);
  EXPECT_NE(std::string(cn_error()).find("'b'"), std::string::npos) << cn_error();
}

TEST_P(Basic, AWrongSecretIsDenied) {
  const EndpointHandle stranger =
      make_endpoint("stranger", GetParam(), [](cn_endpoint_options& options) { options.secret = "another!"; });
  EXPECT_EQ(complete([&](cn_operation** op) {
              return cn_connect(stranger.get(), cn_endpoint_address(b.get()), nullptr, op);
            }),
            CN_DENIED);
}

INSTANTIATE_TEST_SUITE_P(Transports, Basic, testing::Values("memory", "shared", "unix", "tcp", "ucx"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace commnet::tests
