// Tests the names of hosts in addresses, also with a resolver that does not answer.
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include "support.h"

namespace commnet::tests {
namespace {

std::atomic<bool> is_resolver_stuck{false};

}  // namespace

// Called by the library in place of the system's: "stuck.test" waits, "two.test" has two addresses.
extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* host, const char* port,
                                                                  const addrinfo* hints, addrinfo** found) {
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "getaddrinfo"));
  const std::string_view name = host ? host : "";
  const bool is_numeric = hints && (hints->ai_flags & AI_NUMERICHOST) != 0;
  if (!is_numeric && name == "stuck.test") {
    while (is_resolver_stuck) usleep(1000);
    return EAI_AGAIN;
  }
  if (!is_numeric && name == "two.test") {
    // Nobody listens at the first one.
    addrinfo* second = nullptr;
    if (const int code = real("127.0.0.9", port, hints, found)) return code;
    if (const int code = real("127.0.0.1", port, hints, &second)) return code;
    (*found)->ai_next = second;
    return 0;
  }
  return real(host, port, hints, found);
}

namespace {

class Hosts : public testing::Test {
 protected:
  static EndpointHandle make(const std::string& name, uint32_t timeout = 10'000) {
    return make_endpoint(name, "sockets", [&](cn_endpoint_options& options) {
      options.listen = "tcp://127.0.0.1:0";
      options.peer_timeout_ms = timeout;
    });
  }
  static std::string named(const EndpointHandle& endpoint, const std::string& host) {
    const std::string address = cn_endpoint_address(endpoint.get());
    return "tcp://" + host + address.substr(address.rfind(':'));
  }
  void SetUp() override { is_resolver_stuck = true; }
  void TearDown() override { is_resolver_stuck = false; }
};

TEST_F(Hosts, NamesAreLookedUp) {
  const EndpointHandle a = make("a"), b = make("b");
  EXPECT_STREQ(cn_peer_name(connect(a.get(), named(b, "localhost").c_str())), "b");
}

TEST_F(Hosts, EachAddressOfAHostIsTried) {
  const EndpointHandle a = make("a"), b = make("b");
  EXPECT_STREQ(cn_peer_name(connect(a.get(), named(b, "two.test").c_str())), "b");
}

TEST_F(Hosts, AResolverThatIsStuckStopsNobodyElse) {
  const EndpointHandle a = make("a"), b = make("b");
  cn_operation* stuck = nullptr;
  ASSERT_EQ(cn_connect(a.get(), "tcp://stuck.test:1", nullptr, &stuck), CN_OK);
  cn_peer* const to_b = connect(a.get(), cn_endpoint_address(b.get()));
  ASSERT_NE(to_b, nullptr);
  EXPECT_EQ(complete([&](cn_operation** op) { return cn_send(to_b, 1, 0, "x", 1, nullptr, op); }), CN_OK);
  EXPECT_FALSE(cn_test(stuck, nullptr));
  cn_cancel(stuck);
  EXPECT_EQ(cn_wait(stuck, kPatience), CN_CANCELLED);
  cn_operation_release(stuck);
}

TEST_F(Hosts, AResolverThatIsStuckIsGivenUp) {
  const EndpointHandle a = make("a", 200), b = make("b");
  const auto connect_to = [&](const std::string& address) {
    return complete([&](cn_operation** op) { return cn_connect(a.get(), address.c_str(), nullptr, op); });
  };
  EXPECT_EQ(connect_to("tcp://stuck.test:1"), CN_UNREACHABLE);
  EXPECT_EQ(std::string(cn_error()), "'tcp://stuck.test:1': the host was not found in time");
  // Another URL of the address is tried.
  EXPECT_EQ(connect_to("tcp://stuck.test:1," + named(b, "127.0.0.1")), CN_OK) << cn_error();
}

TEST_F(Hosts, AnEndpointClosesWhileAHostIsLookedUp) {
  EndpointHandle a = make("a");
  cn_operation* operation = nullptr;
  ASSERT_EQ(cn_connect(a.get(), "tcp://stuck.test:1", nullptr, &operation), CN_OK);
  a.reset();
  EXPECT_EQ(cn_wait(operation, kPatience), CN_CANCELLED);
  cn_operation_release(operation);
}

TEST_F(Hosts, UnknownHostsAreAnError) {
  const EndpointHandle a = make("a");
  is_resolver_stuck = false;
  EXPECT_EQ(complete([&](cn_operation** op) { return cn_connect(a.get(), "tcp://stuck.test:1", nullptr, op); }),
            CN_UNREACHABLE);
  EXPECT_NE(std::string(cn_error()).find("the host 'stuck.test' is not known"), std::string::npos) << cn_error();
}

TEST_F(Hosts, ListeningDoesNotWaitForEver) {
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.transports = "sockets";
  options.listen = "tcp://stuck.test:0";
  options.peer_timeout_ms = 100;
  cn_endpoint* endpoint = nullptr;
  EXPECT_EQ(cn_endpoint_create(&options, &endpoint), CN_TIMED_OUT);
  is_resolver_stuck = false;
  options.peer_timeout_ms = 0;
  EXPECT_EQ(cn_endpoint_create(&options, &endpoint), CN_INVALID_ARGUMENT);
  options.listen = "tcp://localhost:0";
  ASSERT_EQ(cn_endpoint_create(&options, &endpoint), CN_OK) << cn_error();
  cn_endpoint_close(endpoint);
}

}  // namespace
}  // namespace commnet::tests
