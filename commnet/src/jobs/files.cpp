// A meeting by files: each endpoint writes its address to a file that has the number of its rank.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "core/status.h"
#include "jobs/meetings.h"

namespace commnet {

namespace {

constexpr useconds_t kPause = 10'000;

std::optional<std::string> content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  if (!file || !std::getline(file, text)) return {};
  return text;
}

}  // namespace

std::vector<std::string> meet_by_files(const Job& job, const std::string& folder, const std::string& own_address) {
  const std::filesystem::path place(folder);
  const std::filesystem::path own = place / std::to_string(job.rank), draft = own.string() + ".new";
  {
    std::ofstream file(draft);
    file << own_address << "\n";
    if (!file.flush()) fail(CN_SYSTEM_ERROR, "cannot write '%s': %s", draft.c_str(), std::strerror(errno));
  }
  // Others see the file when it is complete.
  if (std::rename(draft.c_str(), own.c_str()) != 0) fail_with_errno("rename");
  std::vector<std::string> addresses;
  for (uint32_t rank = 0; rank < job.size; ++rank) {
    std::optional<std::string> found;
    while (!(found = content_of(place / std::to_string(rank)))) {
      job.pause(("rank " + std::to_string(rank) + " has not written its address to " + folder).c_str());
      usleep(kPause);
    }
    addresses.push_back(*found);
  }
  return addresses;
}

}  // namespace commnet
