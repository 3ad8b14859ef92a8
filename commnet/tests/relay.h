// A TCP connection that goes through this program, which delays or stops its bytes.
#ifndef COMMNET_TESTS_RELAY_H_
#define COMMNET_TESTS_RELAY_H_

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace commnet::tests {

// Listens at a port, and passes what arrives there on to the first tcp:// URL of an address. Of what the one who
// connects sends, `rate` bytes pass in each millisecond; the answers pass at once.
class Relay {
 public:
  Relay(const std::string& address, size_t rate);
  Relay(const Relay&) = delete;
  ~Relay();

  // Returns the address with the relay in place of the URL.
  const std::string& address() const { return address_; }
  // Passes nothing more in either direction, and keeps the connections.
  void stop() { is_stopped_ = true; }

 private:
  void accept();
  void pass(int from, int to, size_t rate);

  const size_t rate_;
  std::atomic<bool> is_stopped_{false}, is_done_{false};
  int listener_ = -1, target_port_ = 0;
  std::string address_;
  std::vector<int> sockets_;
  std::vector<std::thread> passing_;
  std::thread accepting_;
};

}  // namespace commnet::tests

#endif  // COMMNET_TESTS_RELAY_H_
