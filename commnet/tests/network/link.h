// Two network namespaces with a link between them that behaves as badly as a test asks for. Each has a TUN interface; a
// process carries packets from one to the other. Needs the right to make namespaces and interfaces, but no queueing
// discipline of the kernel.
#ifndef COMMNET_TESTS_NETWORK_LINK_H_
#define COMMNET_TESTS_NETWORK_LINK_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace commnet::tests {

// What happens to packets in one direction. Chances are between 0 and 1.
struct Behaviour {
  double loss = 0, duplication = 0, corruption = 0;
  double reordering = 0;      // the chance that a packet overtakes those that are delayed
  uint32_t delay_us = 0;      // of all other packets
  uint32_t jitter_us = 0;     // the most that is added to it, or taken away
  uint64_t rate = 0;          // bytes per second; 0: no limit
  uint64_t queue = 32 << 10;  // bytes that wait for the rate; more are lost
  bool is_cut = false;        // all packets are lost
};

enum class Side : int { kLeft = 0, kRight = 1 };

// A link between 10.77.0.1 on the left side and 10.77.0.2 on the right side.
class Link {
 public:
  // Moves this process to the left side. Needs a process with one thread, which had better be one of its own: it has no
  // other network afterwards. is_there() says whether the system allows it, and why() why not.
  explicit Link(uint64_t seed);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  bool is_there() const { return relay_ > 0; }
  const std::string& why() const { return why_; }

  // Returns the descriptor of a side's namespace.
  int descriptor(Side side) const { return namespaces_[static_cast<int>(side)]; }
  // Moves the calling thread to a side; sockets that it has already stay where they are.
  void enter(Side side) const;
  // Sets what happens to packets that come from a side. Packets that are under way arrive as they would have.
  void set(Side from, const Behaviour& behaviour) const;
  void set(const Behaviour& both) const;
  void cut() const { set({.is_cut = true}); }
  void restore() const { set({}); }

 private:
  int namespaces_[2] = {-1, -1};
  int control_ = -1;  // to the process that carries the packets
  pid_t relay_ = -1;
  std::string why_;
};

}  // namespace commnet::tests

#endif  // COMMNET_TESTS_NETWORK_LINK_H_
