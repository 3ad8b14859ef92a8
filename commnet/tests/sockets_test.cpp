// Tests what is special about TCP and Unix sockets.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "forbid.h"
#include "raw_peer.h"
#include "support.h"

namespace commnet::tests {
namespace {

std::string fresh_path() {
  return (std::filesystem::temp_directory_path() / ("commnet-test-" + std::to_string(getpid()))).string();
}

TEST(Sockets, TheFileOfAUnixSocketIsRemovedAtTheEnd) {
  const std::string path = fresh_path(), url = "unix:" + path;
  {
    const EndpointHandle a = make_endpoint("a", "sockets", [&](auto& options) { options.listen = url.c_str(); });
    const EndpointHandle b = make_endpoint("b", "sockets");
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_NE(connect(b.get(), url.c_str()), nullptr);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Sockets, TheFileOfADeadProcessIsReplaced) {
  const std::string path = fresh_path(), url = "unix:" + path;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, path.c_str(), sizeof name.sun_path - 1);
  const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(dead, reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  close(dead);
  ASSERT_TRUE(std::filesystem::exists(path));
  const EndpointHandle a = make_endpoint("a", "sockets", [&](auto& options) { options.listen = url.c_str(); });
  const EndpointHandle b = make_endpoint("b", "sockets");
  EXPECT_NE(connect(b.get(), url.c_str()), nullptr);
  // One that lives is not.
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.transports = "sockets";
  options.listen = url.c_str();
  cn_endpoint* second = nullptr;
  EXPECT_EQ(cn_endpoint_create(&options, &second), CN_SYSTEM_ERROR);
  EXPECT_NE(std::string(cn_error()).find("in use"), std::string::npos) << cn_error();
}

TEST(Sockets, AnAddressThatNoTransportUnderstandsIsRefused) {
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.transports = "sockets";
  options.listen = "pigeon:roof";
  cn_endpoint* endpoint = nullptr;
  EXPECT_EQ(cn_endpoint_create(&options, &endpoint), CN_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cn_error()).find("'pigeon:roof'"), std::string::npos) << cn_error();
}

// The bytes and the end of a connection arrive together: both are seen, and its descriptor is closed.
TEST(Sockets, TheEndIsSeenWithTheLastBytes) {
  const EndpointHandle a = make_endpoint("a", "sockets", [&](auto& options) {
    options.listen = "tcp://127.0.0.1:0";
    options.flags = CN_MANUAL_PROGRESS;
    options.peer_timeout_ms = 600'000;
  });
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = descriptors();
  for (int i = 0; i < 10; ++i) {
    RawPeer stranger(cn_endpoint_address(a.get()));
    ASSERT_TRUE(stranger.send_bytes("half a header", 13));
  }
  EXPECT_TRUE(soon([&] {
    cn_progress(a.get(), 0);
    return descriptors() == before;
  }));
}

// Linux before 5.11 lacks a system call: waiting for work takes no processor there, either.
TEST(Sockets, AnOldSystemIsWaitedForInMilliseconds) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    forbid(SYS_epoll_pwait2, ENOSYS);
    const EndpointHandle a = make_endpoint("a", "sockets"), b = make_endpoint("b", "sockets");
    const bool works = connect(a.get(), cn_endpoint_address(b.get())) != nullptr;
    rusage first{}, last{};
    getrusage(RUSAGE_SELF, &first);
    usleep(500'000);
    getrusage(RUSAGE_SELF, &last);
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec * 1e-6; };
    const double used =
        seconds(last.ru_utime) - seconds(first.ru_utime) + seconds(last.ru_stime) - seconds(first.ru_stime);
    _exit(works && used < 0.25 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace commnet::tests
