// A folder with the files of /proc and /sys that say which control groups a process is in, and what these allow.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_TEST_GROUPS_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_TEST_GROUPS_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace oneflow::cpu {

class GroupFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "oneflow-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // Writes texts to files by their paths below the folder.
  void write(const std::map<std::string, std::string>& files) const {
    for (const auto& [path, text] : files) {
      const std::filesystem::path file = std::filesystem::path(root_) / path;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << text;
    }
  }

  std::string root_;
};

// The mount table of a system with version 2.
inline const std::string kMount2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_TEST_GROUPS_H_
