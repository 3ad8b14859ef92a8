// Faults that there were once.
#include "support.h"

namespace commnet::tests {
namespace {

TEST(Regression, AMarkInAnEmptyQueueEndsAtOnce) {
  const EndpointHandle a = make_endpoint("a", "memory");
  cn_queue* queue = nullptr;
  ASSERT_EQ(cn_queue_create(a.get(), &queue), CN_OK);
  EXPECT_EQ(complete([&](cn_operation** op) { return cn_queue_mark(queue, nullptr, op); }), CN_OK) << cn_error();
  cn_queue_release(queue);
}

TEST(Regression, AnAddressWithoutANameMayHaveAnAtSignInItsUrl) {
  const EndpointHandle a = make_endpoint("a", "sockets"), b = make_endpoint("b", "sockets");
  const std::string address = cn_endpoint_address(b.get());
  const size_t begin = address.find("unix:@");
  ASSERT_NE(begin, std::string::npos) << address;
  cn_peer* const peer = connect(a.get(), address.substr(begin, address.find(',', begin) - begin).c_str());
  EXPECT_STREQ(cn_peer_name(peer), "b");
}

}  // namespace
}  // namespace commnet::tests
