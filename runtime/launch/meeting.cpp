#include "launch/meeting.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "launch/failure.h"

namespace oneflow::launch {

std::string make_secret() {
  unsigned char bytes[32];
  // Up to 256 bytes, it gives all or none.
  while (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    if (errno != EINTR) fail_with(errno, "there are no random numbers");
  std::string digits;
  for (const unsigned char byte : bytes) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

MeetingFolder::MeetingFolder(Guard& guard) : guard_(guard) {
  const char* const temporary = std::getenv("TMPDIR");
  path_ = std::filesystem::absolute(temporary && *temporary ? temporary : "/tmp") / "oneflow-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) fail_with(errno, "cannot make a folder " + path_);
  guard_.set_folder(path_);
}

MeetingFolder::~MeetingFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  guard_.set_folder("");
}

}  // namespace oneflow::launch
