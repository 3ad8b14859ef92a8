#include "plugin/memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugin/test_host.h"

namespace oneflow::cpu {
namespace {

class Memory : public testing::Test {
 protected:
  void SetUp() override { set_test_host(); }
};

TEST_F(Memory, BlocksAreAligned) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{3} << 20}) {
    void* memory = nullptr;
    ASSERT_EQ(allocate({}, bytes, &memory), OF_OK);
    const uint64_t alignment = bytes >= (uint64_t{2} << 20) ? uint64_t{2} << 20 : 64;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u) << bytes;
    deallocate({}, memory, bytes);
  }
}

TEST_F(Memory, FailsToAllocateTooMuch) {
  void* memory = nullptr;
  EXPECT_EQ(allocate({}, uint64_t{1} << 62, &memory), OF_OUT_OF_MEMORY);
  EXPECT_EQ(last_text, "cannot allocate 4611686018427387904 bytes");
}

TEST_F(Memory, CopiesAndFillsEveryByte) {
  const size_t size = (size_t{5} << 20) + 7;  // several tasks, the last one shorter
  std::vector<uint8_t> from(size), to(size);
  for (size_t i = 0; i < size; ++i) from[i] = static_cast<uint8_t>(i * 31);
  EXPECT_EQ(copy_bytes({}, to.data(), from.data(), size, nullptr), OF_OK);
  EXPECT_EQ(from, to);
  EXPECT_EQ(fill_bytes({}, to.data(), 7, size, nullptr), OF_OK);
  EXPECT_EQ(to, std::vector<uint8_t>(size, 7));
}

}  // namespace
}  // namespace oneflow::cpu
