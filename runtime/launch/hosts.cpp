#include "launch/hosts.h"

#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>

#include "launch/failure.h"

namespace oneflow::launch {

namespace {

std::string read_file(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (!file) throw Failure("cannot read " + path + ": " + std::strerror(errno), kWrongUsage);
  std::string text;
  char part[4096];
  while (const size_t count = std::fread(part, 1, sizeof part, file.get())) text.append(part, count);
  return text;
}

// Splits text at blanks.
std::vector<std::string> words_of(const std::string& text) {
  constexpr const char* kBlanks = " \t\r";
  std::vector<std::string> words;
  for (size_t begin = text.find_first_not_of(kBlanks); begin != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

}  // namespace

Slots read_slots(const std::string& text) {
  const bool is_bracketed = text.starts_with('[');
  const size_t closing = is_bracketed ? text.find(']') : 0;
  const size_t colon = closing == std::string::npos ? closing : text.find(':', closing);
  Slots slots{is_bracketed && closing != std::string::npos ? text.substr(1, closing - 1) : text.substr(0, colon), 1};
  if (colon != std::string::npos) {
    const char *begin = text.data() + colon + 1, *end = text.data() + text.size();
    const auto [read, error] = std::from_chars(begin, end, slots.count);
    if (error != std::errc() || read != end) slots.count = 0;
  }
  // A name that begins with '-' would be an option of the remote shell.
  if (slots.host.empty() || slots.host.front() == '-' || slots.count < 1)
    throw Failure("a host must be a name and a number of ranks, such as node1:4, got '" + text + "'", kWrongUsage);
  return slots;
}

std::vector<Slots> read_hostfile(const std::string& path) {
  constexpr std::string_view kSlots = "slots=";
  const std::string text = read_file(path);
  std::vector<Slots> hosts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    line.resize(std::min(line.find('#'), line.size()));
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    if (words.size() == 2 && words[1].starts_with(kSlots))
      hosts.push_back(read_slots(words[0] + ":" + words[1].substr(kSlots.size())));
    else if (words.size() == 1)
      hosts.push_back(read_slots(words[0]));
    else
      throw Failure(path + ": a line must be like 'node1:4' or 'node1 slots=4', got '" + line + "'", kWrongUsage);
  }
  if (hosts.empty()) throw Failure(path + " names no host", kWrongUsage);
  return hosts;
}

std::string address_of(const std::string& host) { return host.substr(host.find('@') + 1); }

bool is_this_host(const std::string& name) {
  char own[HOST_NAME_MAX + 1] = {};
  gethostname(own, HOST_NAME_MAX);
  const std::string full = own;
  return name == "localhost" || name == "127.0.0.1" || name == "::1" || name == full ||
         name == full.substr(0, full.find('.'));
}

}  // namespace oneflow::launch
