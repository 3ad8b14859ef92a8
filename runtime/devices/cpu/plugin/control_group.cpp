#include "plugin/control_group.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace oneflow::cpu {
namespace {

using Words = std::vector<std::string>;

// Returns what separators divide, without an empty word at the end.
Words split(std::string_view text, char separator) {
  Words words;
  while (!text.empty()) {
    const size_t length = std::min(text.find(separator), text.size());
    words.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return words;
}

// Returns the lines of a file; none if it cannot be read. Streams would bring the locales of the standard library,
// which liboneflow has no other use for.
Words lines_of(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  std::string text;
  char block[4096];
  for (size_t read; (read = std::fread(block, 1, sizeof block, file)) > 0;) text.append(block, read);
  std::fclose(file);
  return split(text, '\n');
}

// Returns the words of the first line of a file; none if it cannot be read.
Words words_of(const std::string& path) {
  const Words lines = lines_of(path);
  return lines.empty() ? Words() : split(lines[0], ' ');
}

// Returns a natural number; none for other texts, such as "max" and "-1", which stand for no limit, and for numbers
// that are so large that they do, too.
std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number >= uint64_t{1} << 62) return std::nullopt;
  return number;
}

std::optional<uint64_t> number_in(const std::string& path) {
  const Words words = words_of(path);
  return words.empty() ? std::nullopt : number_of(words[0]);
}

// Returns the size of the swap space in bytes.
uint64_t swap_space(const std::string& root) {
  for (const std::string& line : lines_of(root + "/proc/meminfo"))  // "SwapTotal:       0 kB"
    if (line.starts_with("SwapTotal:"))
      for (const std::string& word : split(line, ' '))
        if (const std::optional<uint64_t> kilobytes = number_of(word)) return *kilobytes * 1024;
  return 0;
}

// Returns a path of a mount table, in which spaces, for example, are octal numbers: "\040".
std::string unescaped(const std::string& path) {
  std::string result;
  for (size_t i = 0; i < path.size(); ++i) {
    unsigned code = 0;
    if (path[i] == '\\' &&
        std::from_chars(&path[i] + 1, path.data() + std::min(i + 4, path.size()), code, 8).ptr == path.data() + i + 4) {
      result += static_cast<char>(code);
      i += 3;
    } else {
      result += path[i];
    }
  }
  return result;
}

// Returns whether a hierarchy with a list of controllers, such as "cpu,cpuacct", is that of a controller. The list of
// version 2 is empty, and "" stands for it.
bool has_controller(const std::string& list, const std::string& controller) {
  if (controller.empty()) return list.empty();
  const Words controllers = split(list, ',');
  return std::find(controllers.begin(), controllers.end(), controller) != controllers.end();
}

// Returns the path of this process's group in the hierarchy of a controller; none if there is no such hierarchy.
std::optional<std::string> path_of_group(const std::string& root, const std::string& controller) {
  for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {  // "4:memory:/user/1000"
    const size_t first = line.find(':'), second = line.find(":/", first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    if (has_controller(line.substr(first + 1, second - first - 1), controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Returns the folders of the groups of a hierarchy that contain this process, as far as they are visible: a container
// may see its own group as the root.
std::vector<std::string> folders_of_groups(const std::string& root, const std::string& controller) {
  const std::optional<std::string> path = path_of_group(root, controller);
  if (!path) return {};
  std::optional<std::pair<std::string, std::string>> found;  // where it is mounted, and the group below that folder
  for (const std::string& line : lines_of(root + "/proc/self/mountinfo")) {
    // "35 31 0:32 /docker/ab /sys/fs/cgroup/memory rw,relatime master:1 - cgroup cgroup rw,memory": the fourth word is
    // the group that is mounted, the fifth one where. The number of words in front of the dash varies.
    const Words words = split(line, ' ');
    const auto dash = std::find(words.begin() + std::min<ptrdiff_t>(6, std::ssize(words)), words.end(), "-");
    if (words.end() - dash < 4 || dash[1] != (controller.empty() ? "cgroup2" : "cgroup")) continue;
    if (!controller.empty() && !has_controller(dash[3], controller)) continue;
    const std::string mounted = words[3] == "/" ? "" : unescaped(words[3]), folder = root + unescaped(words[4]);
    const bool is_below = (*path + "/").starts_with(mounted + "/") && !(*path + "/").starts_with("/../");
    if (is_below || !found) found.emplace(folder, is_below ? path->substr(mounted.size()) : "");
    if (is_below) break;
  }
  if (!found) return {};
  auto& [folder, below] = *found;
  while (below.ends_with('/')) below.pop_back();
  std::vector<std::string> folders{folder + below};
  for (; !below.empty(); folders.push_back(folder + below)) below.erase(below.rfind('/'));
  return folders;
}

template <class Number>
void lower(Number& limit, Number number) {
  limit = std::min(limit, number);
}

void apply_quota(std::optional<uint64_t> quota, std::optional<uint64_t> period, GroupLimits& limits) {
  if (!quota || !period || *quota == 0 || *period == 0) return;
  lower(limits.processors, static_cast<int>(std::min<uint64_t>((*quota - 1) / *period + 1, INT_MAX)));
}

void apply_memory(std::optional<uint64_t> memory, std::optional<uint64_t> both, std::optional<uint64_t> used,
                  GroupLimits& limits) {
  if (both) lower(limits.memory_and_swap, *both);
  if (!memory) return;
  lower(limits.memory, *memory);
  lower(limits.unused_memory, *memory - std::min(*memory, used.value_or(0)));
}

void read_version_2(const std::string& root, uint64_t swap, GroupLimits& limits) {
  for (const std::string& group : folders_of_groups(root, "")) {
    const Words quota = words_of(group + "/cpu.max");  // "150000 100000" or "max 100000"
    if (quota.size() == 2) apply_quota(number_of(quota[0]), number_of(quota[1]), limits);
    const std::optional<uint64_t> memory = number_in(group + "/memory.max");
    std::optional<uint64_t> both;
    if (memory) both = *memory + std::min(swap, number_in(group + "/memory.swap.max").value_or(swap));
    apply_memory(memory, both, number_in(group + "/memory.current"), limits);
  }
}

void read_version_1(const std::string& root, uint64_t swap, GroupLimits& limits) {
  for (const std::string& group : folders_of_groups(root, "cpu"))
    apply_quota(number_in(group + "/cpu.cfs_quota_us"), number_in(group + "/cpu.cfs_period_us"), limits);
  for (const std::string& group : folders_of_groups(root, "memory")) {
    const std::optional<uint64_t> memory = number_in(group + "/memory.limit_in_bytes");
    std::optional<uint64_t> both = number_in(group + "/memory.memsw.limit_in_bytes");
    if (memory) both = std::min(both.value_or(UINT64_MAX), *memory + swap);
    apply_memory(memory, both, number_in(group + "/memory.usage_in_bytes"), limits);
  }
}

}  // namespace

GroupLimits group_limits(const std::string& root) noexcept try {
  GroupLimits limits;
  const uint64_t swap = swap_space(root);
  read_version_2(root, swap, limits);
  read_version_1(root, swap, limits);
  return limits;
} catch (...) {  // no memory for the texts
  return {};
}

}  // namespace oneflow::cpu
