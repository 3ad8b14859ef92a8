#include "plugin/memory_budget.h"

#include <gtest/gtest.h>

#include "plugin/test_groups.h"

namespace oneflow::cpu {
namespace {

class MemoryBudgetTest : public GroupFiles {
 protected:
  void set_limit(const std::string& bytes) const {
    write({{"proc/self/cgroup", "0::/\n"},
           {"proc/self/mountinfo", kMount2},
           {"proc/meminfo", "SwapTotal:  1 kB\n"},
           {"sys/fs/cgroup/memory.max", bytes + "\n"}});
  }
};

TEST_F(MemoryBudgetTest, WithoutALimitEverythingFits) {
  MemoryBudget budget(root_.c_str());
  EXPECT_TRUE(budget.take(uint64_t{1} << 62));
}

TEST_F(MemoryBudgetTest, CountsAllThatIsTakenTogether) {
  set_limit("4096");
  MemoryBudget budget(root_.c_str());
  EXPECT_FALSE(budget.take(4096 + 1024 + 1));
  EXPECT_TRUE(budget.take(4096));
  EXPECT_FALSE(budget.take(1025));
  EXPECT_TRUE(budget.take(1024));
  EXPECT_FALSE(budget.take(1));
  budget.give_back(4096);
  EXPECT_TRUE(budget.take(4096));
}

TEST_F(MemoryBudgetTest, NoticesARaisedLimit) {
  set_limit("4096");
  MemoryBudget budget(root_.c_str());
  EXPECT_FALSE(budget.take(1 << 20));
  set_limit("max");
  EXPECT_TRUE(budget.take(1 << 20));
}

}  // namespace
}  // namespace oneflow::cpu
