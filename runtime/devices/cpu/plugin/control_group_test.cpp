#include "plugin/control_group.h"

#include <gtest/gtest.h>

#include <string>

#include "plugin/test_groups.h"

namespace oneflow::cpu {
namespace {

constexpr uint64_t kMega = uint64_t{1} << 20;

class ControlGroup : public GroupFiles {
 protected:
  GroupLimits limits() const { return group_limits(root_); }
};

const std::string kMounts1 =
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

void expect_no_limit(const GroupLimits& limits) {
  EXPECT_EQ(limits.processors, INT_MAX);
  EXPECT_EQ(limits.memory, UINT64_MAX);
  EXPECT_EQ(limits.memory_and_swap, UINT64_MAX);
  EXPECT_EQ(limits.unused_memory, UINT64_MAX);
}

TEST_F(ControlGroup, WithoutFilesThereIsNoLimit) { expect_no_limit(limits()); }

// A container sees its own group as the root of the hierarchy.
TEST_F(ControlGroup, ReadsVersion2InAContainer) {
  write({{"proc/self/cgroup", "0::/\n"},
         {"proc/self/mountinfo", kMount2},
         {"sys/fs/cgroup/cpu.max", "250000 100000\n"},
         {"sys/fs/cgroup/memory.max", "536870912\n"},
         {"sys/fs/cgroup/memory.current", "104857600\n"}});
  EXPECT_EQ(limits().processors, 3);
  EXPECT_EQ(limits().memory, 512 * kMega);
  EXPECT_EQ(limits().memory_and_swap, 512 * kMega);
  EXPECT_EQ(limits().unused_memory, 412 * kMega);
}

TEST_F(ControlGroup, TheSmallestLimitOfNestedGroupsHolds) {
  write({{"proc/self/cgroup", "0::/user.slice/app.scope/worker\n"},
         {"proc/self/mountinfo", kMount2},
         {"sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n"},
         {"sys/fs/cgroup/user.slice/memory.max", "max\n"},
         {"sys/fs/cgroup/user.slice/app.scope/cpu.max", "400000 100000\n"},
         {"sys/fs/cgroup/user.slice/app.scope/memory.max", "1073741824\n"},
         {"sys/fs/cgroup/user.slice/app.scope/memory.current", "1000000000\n"},
         {"sys/fs/cgroup/user.slice/app.scope/worker/cpu.max", "max 100000\n"},
         {"sys/fs/cgroup/user.slice/app.scope/worker/memory.max", "2147483648\n"},
         {"sys/fs/cgroup/user.slice/other/memory.max", "4096\n"}});
  EXPECT_EQ(limits().processors, 2);
  EXPECT_EQ(limits().memory, 1024 * kMega);
  EXPECT_EQ(limits().unused_memory, 1024 * kMega - 1'000'000'000);
}

TEST_F(ControlGroup, AQuotaIsRoundedUp) {
  write({{"proc/self/cgroup", "0::/\n"}, {"proc/self/mountinfo", kMount2}});
  const auto processors_with = [&](const std::string& quota) {
    write({{"sys/fs/cgroup/cpu.max", quota}});
    return limits().processors;
  };
  EXPECT_EQ(processors_with("1000 100000\n"), 1);
  EXPECT_EQ(processors_with("100000 100000\n"), 1);
  EXPECT_EQ(processors_with("100001 100000\n"), 2);
  EXPECT_EQ(processors_with("30000 10000\n"), 3);
  EXPECT_EQ(processors_with("4000000000000 1\n"), INT_MAX);
}

TEST_F(ControlGroup, SwapSpaceIsMemoryThatOnlyTheSumCounts) {
  write({{"proc/self/cgroup", "0::/\n"},
         {"proc/meminfo", "MemTotal:       16000000 kB\nSwapTotal:         262144 kB\n"},
         {"proc/self/mountinfo", kMount2},
         {"sys/fs/cgroup/memory.max", "536870912\n"}});
  EXPECT_EQ(limits().memory, 512 * kMega);
  EXPECT_EQ(limits().memory_and_swap, 768 * kMega);
  write({{"sys/fs/cgroup/memory.swap.max", "104857600\n"}});
  EXPECT_EQ(limits().memory_and_swap, 612 * kMega);
  write({{"sys/fs/cgroup/memory.swap.max", "max\n"}});
  EXPECT_EQ(limits().memory_and_swap, 768 * kMega);
}

TEST_F(ControlGroup, ReadsVersion1) {
  write({{"proc/self/cgroup", "5:memory:/docker/ab\n4:cpuset:/\n3:cpu,cpuacct:/docker/ab\n1:name=systemd:/\n0::/\n"},
         {"proc/self/mountinfo", kMounts1},
         {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
         {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
         {"sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us", "50000\n"},
         {"sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_period_us", "100000\n"},
         {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
         {"sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "268435456\n"},
         {"sys/fs/cgroup/memory/docker/ab/memory.usage_in_bytes", "300000000\n"},
         {"sys/fs/cgroup/memory/docker/ab/memory.memsw.limit_in_bytes", "9223372036854771712\n"}});
  EXPECT_EQ(limits().processors, 1);
  EXPECT_EQ(limits().memory, 256 * kMega);
  EXPECT_EQ(limits().memory_and_swap, 256 * kMega);
  EXPECT_EQ(limits().unused_memory, 0u);
}

// The mount shows a group as the root, but the path of the process is that of the host.
TEST_F(ControlGroup, FindsGroupsBelowTheMountedOne) {
  write({{"proc/self/cgroup", "5:memory:/docker/ab/inner\n3:cpu:/docker/ab\n"},
         {"proc/self/mountinfo",
          "30 1 0:9 /docker/other /mnt/other rw - cgroup cgroup rw,memory\n"
          "35 31 0:32 /docker/ab /sys/fs/cgroup/my\\040memory rw,relatime - cgroup cgroup rw,memory\n"
          "36 31 0:33 /docker/ab /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"},
         {"mnt/other/memory.limit_in_bytes", "4096\n"},
         {"sys/fs/cgroup/my memory/memory.limit_in_bytes", "536870912\n"},
         {"sys/fs/cgroup/my memory/inner/memory.limit_in_bytes", "268435456\n"},
         {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"},
         {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}});
  EXPECT_EQ(limits().memory, 256 * kMega);
  EXPECT_EQ(limits().processors, 2);
}

// The group of the process is not below the one that is mounted: what can be seen is the mounted one.
TEST_F(ControlGroup, FallsBackToTheMountedGroup) {
  write({{"proc/self/mountinfo", kMount2}, {"sys/fs/cgroup/memory.max", "268435456\n"}});
  for (const char* path : {"0::/../sibling\n", "0::/..\n", "0::/a/../b (deleted)\n"}) {
    write({{"proc/self/cgroup", path}});
    EXPECT_EQ(limits().memory, 256 * kMega) << path;
  }
}

TEST_F(ControlGroup, HugeLimitsAreNone) {
  write({{"proc/self/cgroup", "5:memory:/\n3:cpu,cpuacct:/\n"},
         {"proc/self/mountinfo", kMounts1},
         {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
         {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
         {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
         {"sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", "99999999999999999999999\n"}});
  expect_no_limit(limits());
}

TEST_F(ControlGroup, MalformedFilesSetNoLimit) {
  const std::string groups = "0::/\n", mounts = kMount2;
  for (const char* const quota : {"", "\n", "max", "100000", "0 0\n", "1 0\n", "0 100000\n", "-5 10\n", "1e5 10\n",
                                  "a b\n", "1 2 3\n", "99999999999999999999 1\n"}) {
    write({{"proc/self/cgroup", groups}, {"proc/self/mountinfo", mounts}, {"sys/fs/cgroup/cpu.max", quota}});
    EXPECT_EQ(limits().processors, INT_MAX) << quota;
  }
  for (const char* const memory : {"", "\n", "-1\n", "512M\n", "0x10\n"}) {
    write({{"sys/fs/cgroup/memory.max", memory}});
    expect_no_limit(limits());
  }
  write({{"sys/fs/cgroup/memory.max", "4096\n"}});
  for (const char* const damaged : {"", "0\n", "0:\n", ":::\n", "\n\n", "0:x:/\n", "no group"}) {
    write({{"proc/self/cgroup", damaged}});
    expect_no_limit(limits());
  }
  write({{"proc/self/cgroup", groups}});
  for (const char* const damaged : {"", "\n", "1 2 3\n", "1 2 0:1 / /sys/fs/cgroup rw -\n", "1 2 0:1 / - cgroup2 a b\n",
                                    "1 2 0:1 / /sys/fs/cgroup rw shared:1 cgroup2 cgroup2 rw\n"}) {
    write({{"proc/self/mountinfo", damaged}});
    expect_no_limit(limits());
  }
}

}  // namespace
}  // namespace oneflow::cpu
