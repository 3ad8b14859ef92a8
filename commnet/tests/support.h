// Helpers for tests over the C API.
#ifndef COMMNET_TESTS_SUPPORT_H_
#define COMMNET_TESTS_SUPPORT_H_

#include <commnet/commnet.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

namespace commnet::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
constexpr int64_t kPatience = 20'000;  // milliseconds after which a test gives up

// Returns the number that an environment variable has, which makes a test larger.
inline uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct EndpointCloser {
  void operator()(cn_endpoint* endpoint) const { cn_endpoint_close(endpoint); }
};
using EndpointHandle = std::unique_ptr<cn_endpoint, EndpointCloser>;

// Makes an endpoint with a transport, or with sockets of a kind: "tcp" or "unix".
inline EndpointHandle make_endpoint(const std::string& name, const std::string& way,
                                    const std::function<void(cn_endpoint_options&)>& change = {}) {
  const std::string transport = way == "tcp" || way == "unix" ? "sockets" : way;
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.name = name.c_str();
  options.transports = transport.c_str();
  options.secret = "a secret";
  options.secret_size = 8;
  if (way == "tcp") options.listen = "tcp://127.0.0.1:0";
  if (change) change(options);
  cn_endpoint* endpoint = nullptr;
  EXPECT_EQ(cn_endpoint_create(&options, &endpoint), CN_OK) << cn_error();
  return EndpointHandle(endpoint);
}

// Returns whether this build and this machine have a transport.
inline bool is_available(const char* transport) {
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.transports = transport;
  cn_endpoint* endpoint = nullptr;
  const bool is_open = cn_endpoint_create(&options, &endpoint) == CN_OK;
  cn_endpoint_close(endpoint);
  return is_open;
}

// Returns the path of a new, empty folder, which the test removes.
inline std::string fresh_folder() {
  char name[] = "/tmp/commnet-test-XXXXXX";
  EXPECT_NE(mkdtemp(name), nullptr);
  return name;
}

// Waits until a condition holds, and returns whether it does.
template <class Condition>
bool soon(Condition&& holds, int64_t milliseconds = kPatience) {
  for (int64_t i = 0; i < milliseconds && !holds(); ++i) usleep(1000);
  return holds();
}

// Runs begin(&operation) and waits for the operation.
template <class Begin>
cn_status complete(Begin&& begin) {
  cn_operation* operation = nullptr;
  const cn_status status = begin(&operation);
  if (status != CN_OK) return status;
  const cn_status ended = cn_wait(operation, kPatience);
  cn_operation_release(operation);
  return ended;
}

inline cn_peer* connect(cn_endpoint* from, const char* address) {
  cn_operation* operation = nullptr;
  EXPECT_EQ(cn_connect(from, address, nullptr, &operation), CN_OK) << cn_error();
  if (!operation) return nullptr;
  EXPECT_EQ(cn_wait(operation, kPatience), CN_OK) << cn_error();
  cn_peer* const peer = cn_operation_peer(operation);
  cn_operation_release(operation);
  return peer;
}

}  // namespace commnet::tests

#endif  // COMMNET_TESTS_SUPPORT_H_
