// Tests what is special about TCP and Unix sockets.
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>

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

}  // namespace
}  // namespace commnet::tests
