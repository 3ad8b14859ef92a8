// Compares round trips, messages per second and bandwidth between two processes of one machine with ZeroMQ, gloo and
// plain sockets. The endpoints of round trips look for work all the time, as ZeroMQ, gloo and blocking sockets do not.
// Prints a JSON object per row. Usage: bench_sockets tcp|unix
#include <arpa/inet.h>
#include <commnet/commnet.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "processes.h"

namespace {

// Runs `other` in a process of its own, and `self` in this one.
template <class Result>
Result with_process(const std::function<void(Shared&)>& other, const std::function<Result(Shared&)>& self) {
  Shared* const shared = map_shared();
  const pid_t child = start([&] { other(*shared); });
  while (shared->stage == 0) usleep(100);
  const Result result = self(*shared);
  stop(child);
  munmap(shared, sizeof(Shared));
  return result;
}

const char* listen_url = "tcp://127.0.0.1:0";
bool is_unix = false;

cn_endpoint* endpoint(const char* name, uint32_t busy_us, uint32_t flags = 0) {
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.name = name;
  options.listen = listen_url;
  options.transports = "sockets";
  options.busy_poll_us = busy_us;
  options.flags = flags;
  cn_endpoint* result = nullptr;
  require(cn_endpoint_create(&options, &result) == CN_OK, "cn_endpoint_create");
  return result;
}

cn_peer* connect(cn_endpoint* from, const char* address) {
  cn_operation* operation = nullptr;
  require(cn_connect(from, address, nullptr, &operation) == CN_OK, "cn_connect");
  require(cn_wait(operation, 5000) == CN_OK, "cn_connect");
  cn_peer* const peer = cn_operation_peer(operation);
  cn_operation_release(operation);
  return peer;
}

void serve(Shared& shared, uint32_t busy_us, const std::function<void(cn_endpoint*)>& prepare) {
  cn_endpoint* const own = endpoint("server", busy_us);
  prepare(own);
  std::strcpy(shared.address, cn_endpoint_address(own));
  shared.stage = 1;
  pause();
}

// ---------------------------------------------------------------- round trips of 64 bytes, in seconds

constexpr int kRounds = 20000;
constexpr size_t kSmall = 64;

double commnet_round_trip() {
  const auto other = [](Shared& shared) {
    serve(shared, 1000000, [](cn_endpoint* own) {
      const auto echo = [](void*, cn_message* message) {
        cn_send(cn_message_peer(message), 1, 0, cn_message_data(message), cn_message_size(message), nullptr, nullptr);
      };
      cn_set_handler(own, 1, echo, nullptr);
    });
  };
  return with_process<double>(other, [](Shared& shared) {
    cn_endpoint* const own = endpoint("client", 1000000, CN_MANUAL_PROGRESS);
    cn_peer* const peer = connect(own, shared.address);
    static int left;
    const auto again = [](void*, cn_message* message) {
      if (--left > 0) cn_send(cn_message_peer(message), 1, 0, cn_message_data(message), kSmall, nullptr, nullptr);
    };
    cn_set_handler(own, 1, again, nullptr);
    char bytes[kSmall] = {};
    double best = 1;
    for (int round = 0; round < 5; ++round) {
      left = kRounds;
      const auto begin = Clock::now();
      cn_send(peer, 1, 0, bytes, kSmall, nullptr, nullptr);
      while (left > 0) cn_progress(own, 1000);
      best = std::min(best, seconds(begin) / kRounds);
    }
    return best;
  });
}

int connected_socket(bool listens, Shared& shared) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  int own = socket(AF_INET, SOCK_STREAM, 0);
  if (listens) {
    bind(own, reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(own, 1);
    socklen_t size = sizeof address;
    getsockname(own, reinterpret_cast<sockaddr*>(&address), &size);
    std::memcpy(shared.address, &address, sizeof address);
    shared.stage = 1;
    own = accept(own, nullptr, nullptr);
  } else {
    std::memcpy(&address, shared.address, sizeof address);
    connect(own, reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  setsockopt(own, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return own;
}

void read_all(int socket, char* data, size_t size) {
  while (size > 0) {
    const ssize_t got = read(socket, data, size);
    if (got <= 0) _exit(0);
    data += got;
    size -= static_cast<size_t>(got);
  }
}

double sockets_round_trip() {
  const auto other = [](Shared& shared) {
    const int socket = connected_socket(true, shared);
    char bytes[kSmall];
    for (;;) {
      read_all(socket, bytes, kSmall);
      if (write(socket, bytes, kSmall) < 0) return;
    }
  };
  return with_process<double>(other, [](Shared& shared) {
    const int socket = connected_socket(false, shared);
    char bytes[kSmall] = {};
    double best = 1;
    for (int round = 0; round < 5; ++round) {
      const auto begin = Clock::now();
      for (int i = 0; i < kRounds; ++i) {
        require(write(socket, bytes, kSmall) > 0, "write");
        read_all(socket, bytes, kSmall);
      }
      best = std::min(best, seconds(begin) / kRounds);
    }
    return best;
  });
}

std::string zmq_url() { return is_unix ? "ipc:///tmp/commnet-bench" : "tcp://127.0.0.1:*"; }

void* zmq_server(Shared& shared, int type) {
  void* const context = zmq_ctx_new();
  void* const socket = zmq_socket(context, type);
  zmq_bind(socket, zmq_url().c_str());
  size_t size = sizeof shared.address;
  zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, shared.address, &size);
  shared.stage = 1;
  return socket;
}

void* zmq_client(Shared& shared, int type) {
  void* const context = zmq_ctx_new();
  void* const socket = zmq_socket(context, type);
  zmq_connect(socket, shared.address);
  return socket;
}

double zmq_round_trip() {
  const auto other = [](Shared& shared) {
    void* const socket = zmq_server(shared, ZMQ_PAIR);
    char bytes[kSmall];
    for (;;) {
      zmq_recv(socket, bytes, kSmall, 0);
      zmq_send(socket, bytes, kSmall, 0);
    }
  };
  return with_process<double>(other, [](Shared& shared) {
    void* const socket = zmq_client(shared, ZMQ_PAIR);
    char bytes[kSmall] = {};
    double best = 1;
    for (int round = 0; round < 3; ++round) {
      const auto begin = Clock::now();
      for (int i = 0; i < kRounds; ++i) {
        zmq_send(socket, bytes, kSmall, 0);
        zmq_recv(socket, bytes, kSmall, 0);
      }
      best = std::min(best, seconds(begin) / kRounds);
    }
    return best;
  });
}

std::shared_ptr<gloo::rendezvous::Context> gloo_context(Shared& shared, int rank) {
  // The store is a folder, which both processes know before they meet.
  if (rank == 1) {
    std::strcpy(shared.address, "/tmp/commnet-bench-XXXXXX");
    require(mkdtemp(shared.address) != nullptr, "mkdtemp");
    shared.stage = 1;
  }
  gloo::rendezvous::FileStore store(shared.address);
  gloo::transport::tcp::attr attributes("127.0.0.1");
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, 2);
  context->connectFullMesh(store, device);
  return context;
}

double gloo_round_trip() {
  const auto other = [](Shared& shared) {
    const auto context = gloo_context(shared, 1);
    char bytes[kSmall];
    const auto buffer = context->createUnboundBuffer(bytes, kSmall);
    for (;;) {
      buffer->recv(0, 1);
      buffer->waitRecv();
      buffer->send(0, 1);
      buffer->waitSend();
    }
  };
  return with_process<double>(other, [](Shared& shared) {
    const auto context = gloo_context(shared, 0);
    char bytes[kSmall] = {};
    const auto buffer = context->createUnboundBuffer(bytes, kSmall);
    double best = 1;
    for (int round = 0; round < 3; ++round) {
      const auto begin = Clock::now();
      for (int i = 0; i < kRounds; ++i) {
        buffer->send(1, 1);
        buffer->waitSend();
        buffer->recv(1, 1);
        buffer->waitRecv();
      }
      best = std::min(best, seconds(begin) / kRounds);
    }
    return best;
  });
}

// ---------------------------------------------------------------- messages per second, and bandwidth

double gloo_messages(size_t size, int count) {
  const auto other = [=](Shared& shared) {
    const auto context = gloo_context(shared, 1);
    std::vector<char> bytes(size);
    char answer[1] = {};
    const auto buffer = context->createUnboundBuffer(bytes.data(), size);
    const auto last = context->createUnboundBuffer(answer, 1);
    for (int seen = 1;; ++seen) {
      buffer->recv(0, 1);
      buffer->waitRecv();
      if (seen % count == 0) last->send(0, 2);
    }
  };
  return with_process<double>(other, [&](Shared& shared) {
    const auto context = gloo_context(shared, 0);
    std::vector<char> bytes(size, 1);
    char answer[1];
    const auto buffer = context->createUnboundBuffer(bytes.data(), size);
    const auto last = context->createUnboundBuffer(answer, 1);
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      const auto begin = Clock::now();
      for (int i = 0; i < count; ++i) {
        buffer->send(1, 1);
        buffer->waitSend();
      }
      last->recv(1, 2);
      last->waitRecv();
      best = std::min(best, seconds(begin));
    }
    return best;
  });
}

// Seconds for `count` messages of `size` bytes, until the last one has been answered.
double commnet_messages(size_t size, int count) {
  static int expected;
  expected = count;
  const auto other = [](Shared& shared) {
    serve(shared, 200, [](cn_endpoint* own) {
      const auto take = [](void*, cn_message* message) {
        static int seen = 0;
        if (++seen % expected == 0) cn_send(cn_message_peer(message), 2, 0, nullptr, 0, nullptr, nullptr);
      };
      cn_set_handler(own, 1, take, nullptr);
    });
  };
  return with_process<double>(other, [&](Shared& shared) {
    cn_endpoint* const own = endpoint("client", 200);
    cn_peer* const peer = connect(own, shared.address);
    static std::atomic<int> answers;
    answers = 0;
    cn_set_handler(
        own, 2, [](void*, cn_message*) { ++answers; }, nullptr);
    const std::vector<char> bytes(size, 1);
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      const auto begin = Clock::now();
      for (int i = 0; i < count; ++i)
        while (cn_send(peer, 1, 0, bytes.data(), size, nullptr, nullptr) == CN_FULL) usleep(10);
      while (answers <= round) {
      }
      best = std::min(best, seconds(begin));
    }
    return best;
  });
}

double zmq_messages(size_t size, int count) {
  const auto other = [=](Shared& shared) {
    void* const socket = zmq_server(shared, ZMQ_PAIR);
    for (int seen = 1;; ++seen) {
      zmq_msg_t message;
      zmq_msg_init(&message);
      zmq_msg_recv(&message, socket, 0);
      zmq_msg_close(&message);
      if (seen % count == 0) zmq_send(socket, "", 0, 0);
    }
  };
  return with_process<double>(other, [&](Shared& shared) {
    void* const socket = zmq_client(shared, ZMQ_PAIR);
    const std::vector<char> bytes(size, 1);
    char answer[1];
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      const auto begin = Clock::now();
      for (int i = 0; i < count; ++i) zmq_send(socket, bytes.data(), size, 0);
      zmq_recv(socket, answer, 0, 0);
      best = std::min(best, seconds(begin));
    }
    return best;
  });
}

// Seconds for `count` reads of `size` bytes, `depth` at a time.
double commnet_reads(size_t size, int count, int depth) {
  const auto other = [=](Shared& shared) {
    static std::vector<char> bytes(size, 1);
    serve(shared, 200, [&](cn_endpoint* own) {
      cn_memory* memory = nullptr;
      cn_memory_register(own, bytes.data(), size, CN_READ, &memory);
      cn_memory_token(memory, CN_READ, &shared.token);
    });
  };
  return with_process<double>(other, [&](Shared& shared) {
    cn_endpoint* const own = endpoint("client", 200);
    cn_peer* const peer = connect(own, shared.address);
    std::vector<std::vector<char>> bytes(static_cast<size_t>(depth), std::vector<char>(size));
    std::vector<cn_operation*> operations(static_cast<size_t>(depth));
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      const auto begin = Clock::now();
      for (int i = 0; i < count + depth; ++i) {
        const auto slot = static_cast<size_t>(i % depth);
        if (i >= depth) {
          require(cn_wait(operations[slot], 10000) == CN_OK, "cn_read");
          cn_operation_release(operations[slot]);
        }
        if (i < count)
          require(cn_read(peer, &shared.token, 0, bytes[slot].data(), size, nullptr, &operations[slot]) == CN_OK,
                  "cn_read");
      }
      best = std::min(best, seconds(begin));
    }
    return best;
  });
}

void row(const char* what, const char* unit, double own, std::initializer_list<std::pair<const char*, double>> peers) {
  std::printf("{\"what\": \"%s\", \"unit\": \"%s\", \"ours\": %.4g, \"peers\": {", what, unit, own);
  const char* separator = "";
  for (const auto& [name, value] : peers) {
    std::printf("%s\"%s\": %.4g", separator, name, value);
    separator = ", ";
  }
  std::printf("}}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  is_unix = count > 1 && std::strcmp(arguments[1], "unix") == 0;
  if (is_unix) listen_url = "";
  row("round trip of 64 bytes", "us", commnet_round_trip() * 1e6,
      {{"ZeroMQ", zmq_round_trip() * 1e6},
       {"gloo", gloo_round_trip() * 1e6},
       {"blocking sockets", sockets_round_trip() * 1e6}});
  row("a message of 64 bytes", "us", commnet_messages(kSmall, 500000) / 0.5,
      {{"ZeroMQ", zmq_messages(kSmall, 500000) / 0.5}});
  for (const size_t size : {64u << 10, 1u << 20, 16u << 20, 64u << 20}) {
    const int messages = std::max<int>(8, static_cast<int>((512u << 20) / size));
    const std::string what = "bandwidth, " + std::to_string(size >> 10) + " KiB, GB/s as time per GB";
    const double per = static_cast<double>(size) * messages / 1e9;
    const std::initializer_list<std::pair<const char*, double>> peers = {{"ZeroMQ", zmq_messages(size, messages) / per},
                                                                         {"gloo", gloo_messages(size, messages) / per}};
    row(what.c_str(), "s", commnet_messages(size, messages) / per, peers);
    row((what + ", reads").c_str(), "s", commnet_reads(size, messages, 4) / per, peers);
  }
}
