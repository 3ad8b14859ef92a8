#include "device/allocator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/device/fake_device.h"

namespace oneflow {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;

class AllocatorTest : public testing::Test {
 protected:
  void SetUp() override { FakeDevice::reset(); }
  void TearDown() override { set_memory_pressure_callback(nullptr, nullptr); }
  static Allocator& create() { return Allocator::create(device_memory(FakeDevice::table(), {})); }
};

TEST(SizeClassTest, IsTheSmallestClassThatHoldsTheBytes) {
  for (int c = 0; c < kClassCount; ++c) {
    EXPECT_EQ(size_class(class_bytes(c)), c);
    if (c + 1 < kClassCount) {
      EXPECT_EQ(size_class(class_bytes(c) + 1), c + 1);
    }
    EXPECT_EQ(class_bytes(c) % 64, 0u);
  }
  EXPECT_EQ(size_class(0), 0);
}

TEST(SizeClassTest, AtMostAnEighthOfABlockIsUnused) {
  for (uint64_t bytes = 1024; bytes < 1 << 24; bytes += 997)
    EXPECT_LE(class_bytes(size_class(bytes)) - bytes, bytes / 8 + 64);
}

TEST_F(AllocatorTest, BlocksAreAlignedAndSeparate) {
  Allocator& allocator = create();
  std::vector<std::pair<char*, uint64_t>> blocks;
  for (uint64_t bytes : {0, 1, 64, 65, 1000, 1024, 1025, 4096, 32768, 32769, 1 << 20, 3 << 20}) {
    for (int i = 0; i < 3; ++i) {
      char* memory = static_cast<char*>(allocator.allocate(bytes));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
      std::memset(memory, static_cast<int>(blocks.size()), bytes);
      blocks.emplace_back(memory, bytes);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [memory, bytes] = blocks[i];
    for (uint64_t j = 0; j < bytes; j += 61) ASSERT_EQ(memory[j], static_cast<char>(i));
    allocator.deallocate(memory, bytes);
  }
  EXPECT_EQ(allocator.statistics().in_use, 0u);
}

TEST_F(AllocatorTest, FreedBlocksAreReused) {
  Allocator& allocator = create();
  for (uint64_t bytes : {uint64_t{16}, uint64_t{5000}, 2 * kMegabyte}) {
    void* first = allocator.allocate(bytes);
    allocator.deallocate(first, bytes);
    const int64_t calls = FakeDevice::calls;
    EXPECT_EQ(allocator.allocate(bytes), first);
    EXPECT_EQ(FakeDevice::calls, calls);
    allocator.deallocate(first, bytes);
  }
}

TEST_F(AllocatorTest, FreedBlocksServeRequestsOfHalfTheirSize) {
  Allocator& allocator = create();
  void* first = allocator.allocate(4 * kMegabyte);
  allocator.deallocate(first, 4 * kMegabyte);
  const int64_t calls = FakeDevice::calls;
  EXPECT_EQ(allocator.allocate(2 * kMegabyte), first);
  EXPECT_EQ(FakeDevice::calls, calls);
  void* other = allocator.allocate(2 * kMegabyte);
  EXPECT_NE(other, first);
  allocator.deallocate(other, 2 * kMegabyte);
  allocator.deallocate(first, 2 * kMegabyte);
  EXPECT_EQ(allocator.allocate(4 * kMegabyte), first) << "it has its size again";
  allocator.deallocate(first, 4 * kMegabyte);
  EXPECT_EQ(allocator.allocate(2 * kMegabyte), other) << "the nearest size is taken";
  void* small = allocator.allocate(kMegabyte);
  EXPECT_NE(small, first) << "it has more than twice the size";
  allocator.deallocate(other, 2 * kMegabyte);
  allocator.deallocate(small, kMegabyte);
  allocator.empty_cache();
  EXPECT_EQ(allocator.statistics().cached, 0u);
  EXPECT_EQ(FakeDevice::bytes, 0);
}

TEST_F(AllocatorTest, StatisticsCountBlocks) {
  Allocator& allocator = create();
  void* small = allocator.allocate(100);
  void* large = allocator.allocate(kMegabyte);
  EXPECT_EQ(allocator.statistics().in_use, 128 + kMegabyte);
  allocator.deallocate(large, kMegabyte);
  EXPECT_EQ(allocator.statistics().in_use, 128u);
  EXPECT_GE(allocator.statistics().peak_in_use, kMegabyte);
  EXPECT_GE(allocator.statistics().cached, kMegabyte);
  allocator.reset_peak();
  EXPECT_LT(allocator.statistics().peak_in_use, kMegabyte);
  allocator.empty_cache();
  EXPECT_LT(allocator.statistics().cached, kMegabyte);
  allocator.deallocate(small, 100);
}

TEST_F(AllocatorTest, TheOldestCachedBlocksAreFreedFirst) {
  Allocator& allocator = create();  // its cache limit is 16 MiB
  void* old_block = allocator.allocate(6 * kMegabyte);
  void* young_block = allocator.allocate(5 * kMegabyte);
  void* last_block = allocator.allocate(7 * kMegabyte);
  allocator.deallocate(old_block, 6 * kMegabyte);
  allocator.deallocate(young_block, 5 * kMegabyte);
  allocator.deallocate(last_block, 7 * kMegabyte);
  EXPECT_EQ(FakeDevice::bytes, static_cast<int64_t>(12 * kMegabyte));
  EXPECT_EQ(allocator.allocate(5 * kMegabyte), young_block);
  allocator.deallocate(young_block, 5 * kMegabyte);
}

TEST_F(AllocatorTest, TheErrorForTheLimitGivesTheReason) {
  Allocator& allocator = create();
  allocator.set_limit(kMegabyte);
  void* half = allocator.allocate(kMegabyte / 2);
  try {
    allocator.allocate(kMegabyte);
    FAIL() << "the limit was ignored";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_OUT_OF_MEMORY);
    EXPECT_EQ(error.text(), "fake:0 has no memory for 1048576 bytes; 524288 of at most 1048576 are in use");
  }
  allocator.set_limit(0);
  void* whole = allocator.allocate(kMegabyte);
  allocator.deallocate(whole, kMegabyte);
  allocator.deallocate(half, kMegabyte / 2);
}

TEST_F(AllocatorTest, TheErrorSaysWhatLimitsTheDevice) {
  Allocator& allocator = create();
  FakeDevice::capacity = kMegabyte;
  FakeDevice::limited_by = "the control group";
  try {
    allocator.allocate(2 * kMegabyte);
    FAIL() << "the capacity was ignored";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OF_OUT_OF_MEMORY);
    EXPECT_EQ(error.text(),
              "fake:0 has no memory for 2097152 bytes; 0 are in use; the limit of the control group is 67108864 bytes");
  }
}

TEST_F(AllocatorTest, LimitCountsSmallBlocks) {
  Allocator& allocator = create();
  allocator.set_limit(kMegabyte);
  std::vector<void*> blocks;
  EXPECT_THROW(
      {
        while (blocks.size() < 100'000) blocks.push_back(allocator.allocate(64));
      },
      Error);
  EXPECT_EQ(blocks.size(), kMegabyte / 64);
  for (void* block : blocks) allocator.deallocate(block, 64);
}

// Blocks from the cache of a thread must not bypass the limit.
TEST_F(AllocatorTest, LimitCountsBlocksFromTheThreadsCache) {
  Allocator& allocator = create();
  void* first = allocator.allocate(64);
  allocator.set_limit(2 * 64);
  void* second = allocator.allocate(64);
  EXPECT_THROW(allocator.allocate(64), Error);
  allocator.deallocate(first, 64);
  first = allocator.allocate(64);
  EXPECT_EQ(allocator.statistics().in_use, 2 * 64);
  allocator.set_limit(0);
  for (void* block : {first, second, allocator.allocate(64)}) allocator.deallocate(block, 64);
}

TEST_F(AllocatorTest, ImpossibleSizesAreOutOfMemory) {
  Allocator& allocator = create();
  EXPECT_THROW(allocator.allocate(UINT64_MAX), Error);
  EXPECT_THROW(allocator.allocate(kLargestBlock + 1), Error);
}

TEST_F(AllocatorTest, EmptiesTheCacheBeforeItFails) {
  Allocator& allocator = create();
  FakeDevice::capacity = 10 * kMegabyte;
  allocator.deallocate(allocator.allocate(8 * kMegabyte), 8 * kMegabyte);
  void* other = allocator.allocate(9 * kMegabyte);  // does not fit next to the cached block
  allocator.deallocate(other, 9 * kMegabyte);
}

TEST_F(AllocatorTest, EmptiesTheCacheForSmallBlocksToo) {
  Allocator& allocator = create();
  FakeDevice::capacity = 8 * kMegabyte;
  allocator.deallocate(allocator.allocate(8 * kMegabyte), 8 * kMegabyte);
  allocator.deallocate(allocator.allocate(64), 64);
  EXPECT_LT(FakeDevice::bytes, static_cast<int64_t>(kMegabyte));
}

// Blocks that are freed while the cache is emptied, such as the scratch memory of the device's hook, stay.
TEST_F(AllocatorTest, EmptyingTheCacheEndsIfTheDeviceFreesMemoryMeanwhile) {
  static Allocator* allocator;
  of_device_table table = FakeDevice::table();
  table.deallocate = [](of_device device, void* memory, uint64_t bytes) {
    FakeDevice::deallocate(device, memory, bytes);
    for (const uint64_t scratch : {kMegabyte, uint64_t{64}})
      allocator->deallocate(allocator->allocate(scratch), scratch);
  };
  allocator = &Allocator::create(device_memory(table, {}));
  void* blocks[] = {allocator->allocate(2 * kMegabyte), allocator->allocate(3 * kMegabyte), allocator->allocate(100)};
  allocator->deallocate(blocks[0], 2 * kMegabyte);
  allocator->deallocate(blocks[1], 3 * kMegabyte);
  allocator->deallocate(blocks[2], 100);
  allocator->empty_cache();
  EXPECT_EQ(allocator->statistics().in_use, 0u);
  EXPECT_LT(allocator->statistics().cached, 2 * kMegabyte);
}

TEST_F(AllocatorTest, UnusedSlabsAreFreed) {
  Allocator& allocator = create();
  std::vector<char*> blocks(10'000);
  for (char*& block : blocks) block = static_cast<char*>(allocator.allocate(200));
  void* other = allocator.allocate(5000);
  char* kept = blocks[5000];
  std::memset(kept, 7, 200);
  for (char* block : blocks)
    if (block != kept) allocator.deallocate(block, 200);
  EXPECT_GT(FakeDevice::bytes, static_cast<int64_t>(2 * kMegabyte));
  allocator.empty_cache();
  EXPECT_EQ(FakeDevice::bytes, static_cast<int64_t>(2 * (128 << 10)));  // the slabs of `kept` and of `other`
  EXPECT_EQ(kept[199], 7);

  for (char*& block : blocks) block = static_cast<char*>(allocator.allocate(200));
  std::sort(blocks.begin(), blocks.end());
  EXPECT_EQ(std::adjacent_find(blocks.begin(), blocks.end()), blocks.end());
  for (char* block : blocks) allocator.deallocate(block, 200);
  allocator.deallocate(kept, 200);
  allocator.deallocate(other, 5000);
  allocator.empty_cache();
  EXPECT_EQ(FakeDevice::bytes, 0);
  EXPECT_EQ(allocator.statistics().cached, 0u);
}

TEST_F(AllocatorTest, PressureCallbackIsNotCalledRecursively) {
  static Allocator* allocator;
  static int calls;
  allocator = &create();
  calls = 0;
  FakeDevice::capacity = 1;
  set_memory_pressure_callback(
      [](void*, uint64_t) {
        ++calls;
        EXPECT_THROW(allocator->allocate(kMegabyte), Error);
        return true;
      },
      nullptr);
  EXPECT_THROW(allocator->allocate(kMegabyte), Error);
  EXPECT_THROW(allocator->allocate(kMegabyte), Error);
  EXPECT_EQ(calls, 2);
}

TEST_F(AllocatorTest, PressureCallbackIsCalledOncePerAllocation) {
  static Allocator* allocator;
  static void* held;
  static int calls;
  allocator = &create();
  calls = 0;
  FakeDevice::capacity = 10 * kMegabyte;
  held = allocator->allocate(8 * kMegabyte);
  set_memory_pressure_callback(
      [](void* context, uint64_t wanted) {
        EXPECT_EQ(context, &calls);
        EXPECT_EQ(wanted, 4 * kMegabyte);
        ++calls;
        if (!held) return false;
        allocator->deallocate(held, 8 * kMegabyte);  // must not deadlock: no lock is held
        held = nullptr;
        return true;
      },
      &calls);
  void* memory = allocator->allocate(4 * kMegabyte);
  EXPECT_EQ(calls, 1);
  FakeDevice::capacity = 1;
  EXPECT_THROW(allocator->allocate(4 * kMegabyte), Error);
  EXPECT_EQ(calls, 2);
  FakeDevice::capacity = 0;
  allocator->deallocate(memory, 4 * kMegabyte);
}

TEST_F(AllocatorTest, StaysConsistentAfterFailuresAtAnyPoint) {
  Allocator& allocator = create();
  std::mt19937 random(1);
  std::vector<std::pair<void*, uint64_t>> blocks;
  for (int i = 0; i < 20'000; ++i) {
    FakeDevice::capacity = random() % 4 ? 8 * kMegabyte : 1;
    if (random() % 2 && !blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      allocator.deallocate(blocks.back().first, blocks.back().second);
      blocks.pop_back();
      continue;
    }
    const uint64_t bytes = random() % 8 ? random() % 3000 : random() % kMegabyte;
    try {
      void* memory = allocator.allocate(bytes);
      std::memset(memory, 0xab, bytes);
      blocks.emplace_back(memory, bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), OF_OUT_OF_MEMORY);
    }
  }
  uint64_t expected = 0;
  for (const auto& [memory, bytes] : blocks) expected += class_bytes(size_class(bytes));
  EXPECT_EQ(allocator.statistics().in_use, expected);
  for (const auto& [memory, bytes] : blocks) allocator.deallocate(memory, bytes);
  EXPECT_EQ(allocator.statistics().in_use, 0u);
}

TEST_F(AllocatorTest, BlocksAreFreedByOtherThreads) {
  Allocator& allocator = create();
  constexpr int kThreads = 4, kRounds = 200, kBlocks = 100;
  std::mutex mutex;
  std::vector<std::pair<uint64_t*, uint64_t>> pool;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::pair<uint64_t*, uint64_t>> mine;
      for (int i = 0; i < kBlocks; ++i) {
        const uint64_t bytes = 8 + random() % 40'000;
        auto* memory = static_cast<uint64_t*>(allocator.allocate(bytes));
        *memory = bytes;
        mine.emplace_back(memory, bytes);
      }
      {
        const std::lock_guard lock(mutex);
        mine.swap(pool);
      }
      for (const auto& [memory, bytes] : mine) {
        ASSERT_EQ(*memory, bytes);  // no other owner wrote to it
        allocator.deallocate(memory, bytes);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  for (const auto& [memory, bytes] : pool) allocator.deallocate(memory, bytes);
  EXPECT_EQ(allocator.statistics().in_use, 0u);
}

TEST_F(AllocatorTest, ThreadsReturnTheirBlocksWhenTheyEnd) {
  Allocator& allocator = create();
  const auto churn = [&] { allocator.deallocate(allocator.allocate(20'000), 20'000); };
  std::thread(churn).join();
  const int64_t calls = FakeDevice::calls;
  for (int i = 0; i < 50; ++i) std::thread(churn).join();
  EXPECT_EQ(FakeDevice::calls, calls);
}

TEST_F(AllocatorTest, WorksInAForkedChild) {
  Allocator& allocator = create();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) allocator.deallocate(allocator.allocate(100'000), 100'000);  // acquires the lock again and again
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      allocator.deallocate(allocator.allocate(200'000), 200'000);
      allocator.deallocate(allocator.allocate(16), 16);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace oneflow
