#include "parallel/processes/meeting.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace oneflow::processes {

namespace {

constexpr size_t kSecretBytes = 32;

// Returns the beginning of a file; "" if it cannot be read.
std::string beginning_of(const std::string& path) {
  char bytes[1024];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t count = read(file, bytes, sizeof bytes);
  close(file);
  return {bytes, static_cast<size_t>(std::max<ssize_t>(count, 0))};
}

// Returns when the parent of this process was started, in ticks since the boot: with its number, it tells apart two
// parents that have had the same number.
std::string start_of_parent() {
  constexpr int kField = 20;  // after the name of the program, which is in parentheses and may contain spaces
  const std::string text = beginning_of("/proc/" + std::to_string(getppid()) + "/stat");
  size_t start = text.rfind(')');
  for (int i = 0; i < kField && start != std::string::npos; ++i) start = text.find(' ', start + 1);
  if (start == std::string::npos) return "";
  return text.substr(start + 1, text.find(' ', start + 1) - start - 1);
}

// Creates a folder that only this user can use, unless there is one.
void make_private(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    fail(OF_COMMUNICATION_ERROR, "cannot create the folder '%s': %s", folder.c_str(), std::strerror(errno));
  struct stat found {};
  const bool is_own = lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
                      (found.st_mode & 077) == 0;
  if (!is_own) fail(OF_COMMUNICATION_ERROR, "the folder '%s' belongs to others", folder.c_str());
}

// Returns the secret in a folder, which the first process writes.
std::string shared_secret(const std::string& folder) {
  const std::string path = folder + "/secret", draft = path + std::to_string(getpid());
  unsigned char bytes[kSecretBytes];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    fail(OF_COMMUNICATION_ERROR, "getrandom: %s", std::strerror(errno));
  std::string text;
  for (const unsigned char each : bytes) text += format_text("%02x", each);
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    fail(OF_COMMUNICATION_ERROR, "cannot write '%s': %s", draft.c_str(), std::strerror(errno));
  close(file);
  const bool is_first = link(draft.c_str(), path.c_str()) == 0;
  unlink(draft.c_str());
  if (is_first) return text;
  const std::string found = beginning_of(path);
  if (found.size() != text.size()) fail(OF_COMMUNICATION_ERROR, "there is no secret in '%s'", path.c_str());
  return found;
}

// Lets the processes with the parent of this one meet.
void meet_in_folder(Membership& membership, const std::string& name) {
  const std::string own = std::filesystem::temp_directory_path() / ("oneflow-" + std::to_string(geteuid()));
  make_private(own);
  membership.folder = own + "/" + name + "-" + std::to_string(getppid()) + "-" + start_of_parent();
  make_private(membership.folder);
  membership.meeting = "file:" + membership.folder;
  if (membership.secret.empty()) membership.secret = shared_secret(membership.folder);
}

// Returns the address of this host by which it reaches another one.
std::string address_towards(const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (const int error = getaddrinfo(host.c_str(), "9", &hints, &found))
    fail(OF_COMMUNICATION_ERROR, "the address of '%s' is not known: %s", host.c_str(), gai_strerror(error));
  std::string address;
  for (const addrinfo* each = found; each && address.empty(); each = each->ai_next) {
    // No bytes are sent: this only finds the way.
    const int socket_number = socket(each->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_number < 0) continue;
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    char text[NI_MAXHOST] = "";
    if (connect(socket_number, each->ai_addr, each->ai_addrlen) == 0 &&
        getsockname(socket_number, reinterpret_cast<sockaddr*>(&own), &length) == 0 &&
        getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      address = own.ss_family == AF_INET6 ? std::string("[").append(text).append("]") : std::string(text);
    close(socket_number);
  }
  freeaddrinfo(found);
  if (address.empty()) fail(OF_COMMUNICATION_ERROR, "there is no way to '%s'", host.c_str());
  return address;
}

void meet_on_host(Membership& membership, const std::string& host, uint32_t port) {
  if (membership.secret.empty())
    fail(OF_COMMUNICATION_ERROR,
         "processes on several hosts need a secret: set ONEFLOW_SECRET to the same text for all of them");
  membership.meeting = "tcp://" + host + ":" + std::to_string(port);
  if (membership.listen.empty()) membership.listen = address_towards(host);
}

}  // namespace

void meet_beside_master(Membership& membership) {
  const uint32_t port = number_in("MASTER_PORT");
  if (membership.local_size == membership.size)
    return meet_in_folder(membership,
                          "torchrun-" + std::to_string(port) + "-" + variable("TORCHELASTIC_RESTART_COUNT"));
  meet_on_host(membership, variable("MASTER_ADDR"), port == 65535 ? port - 1 : port + 1);
}

void meet_in_slurm(Membership& membership) {
  const std::string step = variable("SLURM_JOB_ID") + "-" + variable("SLURM_STEP_ID");
  if (variable("SLURM_STEP_NUM_NODES") == "1") return meet_in_folder(membership, "slurm-" + step);
  std::string host = variable("SLURM_STEP_NODELIST");  // "node[3-5,7]", or "a,b"
  const size_t bracket = host.find('[');
  if (bracket != std::string::npos && bracket < host.find(',')) {
    const size_t end = host.find_first_of("-,]", bracket);
    host = host.substr(0, bracket) + host.substr(bracket + 1, end - bracket - 1);
  } else {
    host = host.substr(0, host.find(','));
  }
  // Steps of different jobs on one host have different ports.
  constexpr uint32_t kFirst = 20000, kCount = 20000;
  meet_on_host(membership, host, kFirst + (number_in("SLURM_JOB_ID") * 7 + number_in("SLURM_STEP_ID")) % kCount);
}

}  // namespace oneflow::processes
