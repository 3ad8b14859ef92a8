#include "network/link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace commnet::tests {

namespace {

using Clock = std::chrono::steady_clock;
using Packet = std::vector<uint8_t>;

constexpr const char* kAddresses[] = {"10.77.0.1", "10.77.0.2"};
constexpr size_t kLargest = 2048;

// ------------------------------------------------------------------------------------------------ the interfaces

bool bring_up(const char* name, const char* address) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  auto* const in = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  const auto set = [&](unsigned long what, const char* value) {
    in->sin_family = AF_INET;
    inet_pton(AF_INET, value, &in->sin_addr);
    return ioctl(socket, what, &request) == 0;
  };
  bool is_right = !address || (set(SIOCSIFADDR, address) && set(SIOCSIFNETMASK, "255.255.255.0"));
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  is_right = is_right && ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  close(socket);
  return is_right;
}

// Makes a network with an interface, and enters it. Returns the interface's packets; -1: it is not allowed.
int make_network(const char* address) {
  if (unshare(CLONE_NEWNET) != 0) return -1;
  const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (tun < 0) return -1;
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strcpy(request.ifr_name, "link");
  if (ioctl(tun, TUNSETIFF, &request) == 0 && bring_up("link", address) && bring_up("lo", nullptr)) return tun;
  close(tun);
  return -1;
}

// ------------------------------------------------------------------------------------------------ the carrier

// One direction of the link.
class Direction {
 public:
  Direction(int from, int to, uint64_t seed) : from_(from), to_(to), random_(seed) {}

  int from() const { return from_; }
  void set(const Behaviour& behaviour) { behaviour_ = behaviour; }

  // Takes the packets that are there.
  void take() {
    uint8_t bytes[kLargest];
    for (ssize_t size; (size = read(from_, bytes, sizeof bytes)) > 0;) add({bytes, bytes + size});
  }
  // Delivers what is due.
  void deliver(Clock::time_point now) {
    while (!queue_.empty() && queue_.begin()->first <= now) {
      const Packet& packet = queue_.begin()->second;
      // An interface whose queue is full drops the packet, as networks do.
      [[maybe_unused]] const ssize_t written = write(to_, packet.data(), packet.size());
      queue_.erase(queue_.begin());
    }
  }
  Clock::time_point next() const { return queue_.empty() ? Clock::time_point::max() : queue_.begin()->first; }

 private:
  bool happens(double chance) { return chance > 0 && std::uniform_real_distribution<>(0, 1)(random_) < chance; }

  void add(Packet packet) {
    if (behaviour_.is_cut || happens(behaviour_.loss)) return;
    // One wrong bit is what the checksums of IP and of TCP always find.
    if (happens(behaviour_.corruption)) packet[random_() % packet.size()] ^= static_cast<uint8_t>(1u << random_() % 8);
    Clock::time_point due = Clock::now();
    if (behaviour_.rate > 0) {
      using Seconds = std::chrono::duration<double>;
      const auto time_of = [&](uint64_t bytes) {
        return std::chrono::duration_cast<Clock::duration>(Seconds(double(bytes) / double(behaviour_.rate)));
      };
      free_at_ = std::max(free_at_, due);
      if (free_at_ - due > time_of(behaviour_.queue)) return;
      due = free_at_ += time_of(packet.size());
    }
    if (!happens(behaviour_.reordering)) {
      const int64_t jitter = behaviour_.jitter_us;
      due += std::chrono::microseconds(
          behaviour_.delay_us + (jitter > 0 ? std::uniform_int_distribution<int64_t>(-jitter, jitter)(random_) : 0));
    }
    if (happens(behaviour_.duplication)) queue_.emplace(due, packet);
    queue_.emplace(due, std::move(packet));
  }

  const int from_, to_;
  std::mt19937_64 random_;
  Behaviour behaviour_;
  std::multimap<Clock::time_point, Packet> queue_;  // by when they are due
  Clock::time_point free_at_{};
};

struct Order {
  Side from;
  Behaviour behaviour;
};

[[noreturn]] void carry(int left, int right, int control, uint64_t seed) {
  Direction directions[2] = {{left, right, seed}, {right, left, seed + 1}};
  for (;;) {
    pollfd watched[3] = {{left, POLLIN, 0}, {right, POLLIN, 0}, {control, POLLIN, 0}};
    const Clock::time_point next = std::min(directions[0].next(), directions[1].next());
    timespec pause{3600, 0};
    if (next != Clock::time_point::max()) {
      const auto left = std::max(next - Clock::now(), Clock::duration::zero());
      pause = {left / std::chrono::seconds(1), (left % std::chrono::seconds(1)).count()};
    }
    ppoll(watched, 3, &pause, nullptr);
    if (watched[2].revents != 0) {
      Order order;
      if (recv(control, &order, sizeof order, 0) != sizeof order) _exit(0);  // the test has ended
      directions[static_cast<int>(order.from)].set(order.behaviour);
      if (send(control, "", 1, MSG_NOSIGNAL) != 1) _exit(0);
    }
    for (Direction& direction : directions) {
      direction.take();
      direction.deliver(Clock::now());
    }
  }
}

}  // namespace

Link::Link(uint64_t seed) {
  if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    why_ = std::string("this process may not make network namespaces: ") + std::strerror(errno);
    return;
  }
  int packets[2];
  for (int side = 0; side < 2; ++side) {
    packets[side] = make_network(kAddresses[side]);
    if (packets[side] < 0) {
      why_ = std::string("this process may not use /dev/net/tun: ") + std::strerror(errno);
      return;
    }
    namespaces_[side] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  }
  enter(Side::kLeft);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  relay_ = fork();
  if (relay_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    carry(packets[0], packets[1], ends[1], seed);
  }
  close(ends[1]);
  control_ = ends[0];
  for (const int each : packets) close(each);
}

Link::~Link() {
  if (relay_ <= 0) return;
  close(control_);
  waitpid(relay_, nullptr, 0);
  for (const int each : namespaces_) close(each);
}

void Link::enter(Side side) const {
  if (setns(descriptor(side), CLONE_NEWNET) != 0) std::abort();
}

void Link::set(Side from, const Behaviour& behaviour) const {
  const Order order{from, behaviour};
  char answer;
  if (send(control_, &order, sizeof order, MSG_NOSIGNAL) != sizeof order || recv(control_, &answer, 1, 0) != 1)
    std::abort();
}

void Link::set(const Behaviour& both) const {
  set(Side::kLeft, both);
  set(Side::kRight, both);
}

}  // namespace commnet::tests
