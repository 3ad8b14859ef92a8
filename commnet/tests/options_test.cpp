// Tests options that a program cannot have meant.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support.h"

namespace commnet::tests {
namespace {

TEST(Options, ASizeThatEndsWithinAFieldIsRefused) {
  for (uint32_t size = 0; size <= sizeof(cn_endpoint_options) + 8; ++size) {
    cn_endpoint_options options{};
    options.struct_size = size;
    options.name = "a";
    options.transports = "memory";
    cn_endpoint* endpoint = nullptr;
    const bool is_right = size > 0 && size <= sizeof options && size % alignof(cn_endpoint_options) == 0;
    EXPECT_EQ(cn_endpoint_create(&options, &endpoint), is_right ? CN_OK : CN_INVALID_ARGUMENT) << size;
    cn_endpoint_close(endpoint);
  }
  const EndpointHandle a = make_endpoint("a", "memory"), b = make_endpoint("b", "memory");
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  for (uint32_t size = 0; size <= sizeof(cn_call) + 8; ++size) {
    cn_call call{};
    call.struct_size = size;
    call.done = [](void*, cn_status, const char*) {};
    const bool is_right = size > 0 && size <= sizeof call && size % alignof(cn_call) == 0;
    EXPECT_EQ(cn_send(to_b, 1, 0, "x", 1, &call, nullptr), is_right ? CN_OK : CN_INVALID_ARGUMENT) << size;
  }
}

TEST(Options, AFileThatIsNoSocketStays) {
  const std::string folder = fresh_folder();
  const std::string path = folder + "/file", url = "unix:" + path;
  std::ofstream(path) << "precious";
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.transports = "sockets";
  options.listen = url.c_str();
  cn_endpoint* endpoint = nullptr;
  EXPECT_EQ(cn_endpoint_create(&options, &endpoint), CN_SYSTEM_ERROR);
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "precious");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace commnet::tests
