// A meeting by files: each endpoint writes its address to a file that has the number of its rank.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "core/descriptor.h"
#include "core/status.h"
#include "jobs/meetings.h"

namespace commnet {

namespace {

constexpr useconds_t kPause = 10'000;

// The most bytes of an address. Streams of the standard library would take more memory than all of this one.
constexpr size_t kLongest = 4096;

// Returns the first line of a file that has one.
std::optional<std::string> first_line_of(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char bytes[kLongest];
  const ssize_t count = file.number() < 0 ? -1 : read(file.number(), bytes, sizeof bytes);
  const std::string_view text(bytes, count > 0 ? static_cast<size_t>(count) : 0);
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  return std::string(text.substr(0, end));
}

void write_line(const std::string& path, const std::string& line) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const std::string text = line + "\n";
  if (file.number() < 0 || write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail(CN_SYSTEM_ERROR, "cannot write '%s': %s", path.c_str(), std::strerror(errno));
}

}  // namespace

std::vector<std::string> meet_by_files(const Job& job, const std::string& folder, const std::string& own_address) {
  const std::string own = folder + "/" + std::to_string(job.rank), draft = own + ".new";
  write_line(draft, own_address);
  // Others see the file when it is complete.
  if (std::rename(draft.c_str(), own.c_str()) != 0) fail_with_errno("rename");
  std::vector<std::string> addresses;
  for (uint32_t rank = 0; rank < job.size; ++rank) {
    std::optional<std::string> found;
    while (!(found = first_line_of(folder + "/" + std::to_string(rank)))) {
      job.pause(("rank " + std::to_string(rank) + " has not written its address to " + folder).c_str());
      usleep(kPause);
    }
    addresses.push_back(*found);
  }
  return addresses;
}

}  // namespace commnet
