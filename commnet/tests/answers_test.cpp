// Tests what an endpoint does with the answers of those whom it connects to.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "raw_peer.h"
#include "support.h"

namespace commnet::tests {
namespace {

// Connects an endpoint to a program that ends the handshake with a status. Returns how the operation ends.
cn_status connect_to_one_that_says(uint16_t status) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener, 1), 0);
  EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const EndpointHandle a = make_endpoint("a", "sockets");
  cn_operation* operation = nullptr;
  const std::string url = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  EXPECT_EQ(cn_connect(a.get(), url.c_str(), nullptr, &operation), CN_OK) << cn_error();
  RawPeer raw(accept(listener, nullptr, nullptr));
  close(listener);
  EXPECT_TRUE(raw.answer("raw", "a secret", status));
  const cn_status ended = cn_wait(operation, kPatience);
  cn_operation_release(operation);
  return ended;
}

TEST(Answers, AnUnknownStatusIsRefused) {
  EXPECT_EQ(connect_to_one_that_says(CN_OK), CN_OK);
  EXPECT_EQ(connect_to_one_that_says(CN_INVALID_ARGUMENT), CN_INVALID_ARGUMENT);
  for (const int status : {CN_INTERNAL_ERROR + 1, 255, 65535})
    EXPECT_EQ(connect_to_one_that_says(static_cast<uint16_t>(status)), CN_DENIED) << status;
}

}  // namespace
}  // namespace commnet::tests
