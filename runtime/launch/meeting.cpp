#include "launch/meeting.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "launch/failure.h"

namespace oneflow::launch {

namespace {

// Enough that no other folder has the name: the guard may remove it.
constexpr size_t kNameDigits = 24;

}  // namespace

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
  path_ = std::filesystem::absolute(temporary && *temporary ? temporary : "/tmp") /
          ("oneflow-" + make_secret().substr(0, kNameDigits));
  // Before the folder is there, so that none is left if this process is killed in between.
  guard_.set_folder(path_);
  if (mkdir(path_.c_str(), 0700) == 0) return;
  const int code = errno;
  guard_.set_folder("");
  fail_with(code, "cannot make a folder " + path_);
}

MeetingFolder::~MeetingFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  guard_.set_folder("");
}

}  // namespace oneflow::launch
