// Compares reads from an endpoint with 10,000 registered regions and from one with a single region; the reader takes
// always the same one, or a random one. One thread runs both endpoints, so that its processor time is that of both
// sides and of the system. Copies of the regions and their tokens touch the same memory in the same order: what they
// lose is the cost of the caches. Prints a JSON object per row: microseconds per read. Usage: bench_regions
// tcp|unix|memory
#include <commnet/commnet.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t kRegions = 10'000, kStride = 4096;
constexpr int kReads = 10'000, kDepth = 32, kRounds = 30;

std::string transport = "sockets", listen_urls;

void require(bool holds) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", cn_error());
  std::exit(1);
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

cn_endpoint* make(const char* name) {
  cn_endpoint_options options{};
  options.struct_size = sizeof options;
  options.name = name;
  options.transports = transport.c_str();
  options.listen = listen_urls.c_str();
  options.flags = CN_MANUAL_PROGRESS;
  cn_endpoint* endpoint = nullptr;
  require(cn_endpoint_create(&options, &endpoint) == CN_OK);
  return endpoint;
}

// A reader, and an endpoint with regions.
struct Pair {
  cn_endpoint *reader, *owner;
  cn_peer* peer = nullptr;
  std::vector<char> bytes = std::vector<char>(kRegions * kStride, 1);
  std::vector<cn_token> tokens;
  int left = 0, under_way = 0;

  Pair(const char* name, size_t regions) : reader(make("reader")), owner(make(name)), tokens(regions) {
    for (size_t i = 0; i < regions; ++i) {
      cn_memory* memory = nullptr;
      require(cn_memory_register(owner, bytes.data() + i * kStride, kStride, CN_READ, &memory) == CN_OK);
      require(cn_memory_token(memory, CN_READ, &tokens[i]) == CN_OK);
    }
    cn_operation* operation = nullptr;
    require(cn_connect(reader, cn_endpoint_address(owner), nullptr, &operation) == CN_OK);
    while (!cn_test(operation, nullptr)) progress();
    require((peer = cn_operation_peer(operation)) != nullptr);
    cn_operation_release(operation);
  }
  void progress() {
    cn_progress(reader, 0);
    cn_progress(owner, 0);
  }
  // Returns the seconds per read.
  double read(const std::vector<uint32_t>& order, size_t size) {
    static char to[kDepth][kStride];
    cn_call call{};
    call.struct_size = sizeof call;
    call.user = &under_way;
    call.done = [](void* user, cn_status status, const char*) {
      require(status == CN_OK);
      --*static_cast<int*>(user);
    };
    left = kReads;
    const double begin = now();
    while (left > 0 || under_way > 0) {
      for (; left > 0 && under_way < kDepth; ++under_way) {
        --left;
        const cn_token& token = tokens[order[static_cast<size_t>(left)]];
        require(cn_read(peer, &token, 0, to[left % kDepth], size, &call, nullptr) == CN_OK);
      }
      progress();
    }
    return (now() - begin) / kReads;
  }
};

// Copies the bytes of a region and its token, one after the other: where the next ones are depends on them.
double copy(const Pair& from, const std::vector<uint32_t>& order, size_t size) {
  static char to[kDepth][kStride];
  cn_token token{};
  size_t zero = 0;
  const double begin = now();
  for (size_t i = 0; i < kReads; ++i) {
    char* const place = to[i % kDepth];
    std::memcpy(&token, &from.tokens[order[i] + zero], sizeof token);
    std::memcpy(place, from.bytes.data() + order[i] * kStride + (cn_token_size(&token) - kStride), size);
    zero = static_cast<size_t>(place[size - 1] - 1);
  }
  return (now() - begin) / kReads;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string kind = count > 1 ? arguments[1] : "unix";
  if (kind == "tcp") listen_urls = "tcp://127.0.0.1:0";
  if (kind == "memory") transport = "memory";
  Pair one("one", 1), many("many", kRegions);
  std::mt19937 random(1);
  const std::vector<uint32_t> same(kReads, 0);
  std::vector<uint32_t> any(kReads);
  for (uint32_t& each : any) each = random() % kRegions;
  for (const size_t size : {size_t{64}, kStride}) {
    // Rounds take turns, so that what else the machine does is the same for all.
    double best[5] = {1, 1, 1, 1, 1};
    for (int round = 0; round < kRounds; ++round) {
      best[0] = std::min(best[0], one.read(same, size));
      best[1] = std::min(best[1], many.read(same, size));
      best[2] = std::min(best[2], many.read(any, size));
      best[3] = std::min(best[3], copy(many, same, size));
      best[4] = std::min(best[4], copy(many, any, size));
    }
    std::printf(
        "{\"what\": \"a read of %zu bytes over %s\", \"unit\": \"us\", \"1 region\": %.3f, "
        "\"10,000, the same\": %.3f, \"10,000, any\": %.3f, \"copy, the same\": %.3f, \"copy, any\": %.3f}\n",
        size, kind.c_str(), best[0] * 1e6, best[1] * 1e6, best[2] * 1e6, best[3] * 1e6, best[4] * 1e6);
    std::fflush(stdout);
  }
  std::quick_exit(0);
}
