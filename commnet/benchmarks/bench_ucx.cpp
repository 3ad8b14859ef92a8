// Compares round trips and bandwidth over UCX between two processes of one machine with ucx_perftest, which uses the
// same transports of UCX. Prints a JSON object per row.
#include <commnet/commnet.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "processes.h"

namespace {

// How often a process measures; the best counts.
constexpr int kRepeated = 2;

// Runs both sides in processes of their own: UCX does not work after fork().
double measure(const std::function<void(cn_endpoint*, Shared&)>& serve,
               const std::function<double(cn_endpoint*, cn_peer*, Shared&)>& ask) {
  Shared* const shared = map_shared();
  const auto endpoint = [](const char* name, uint32_t flags) {
    cn_endpoint_options options{};
    options.struct_size = sizeof options;
    options.name = name;
    options.transports = "ucx";
    options.busy_poll_us = 1'000'000;
    options.flags = flags;
    cn_endpoint* result = nullptr;
    require(cn_endpoint_create(&options, &result) == CN_OK, "cn_endpoint_create");
    return result;
  };
  const pid_t server = start([&] {
    cn_endpoint* const own = endpoint("server", CN_MANUAL_PROGRESS);
    serve(own, *shared);
    std::strcpy(shared->address, cn_endpoint_address(own));
    shared->stage = 1;
    for (;;) cn_progress(own, 1000);
  });
  const pid_t client = start([&] {
    while (shared->stage == 0) usleep(100);
    cn_endpoint* const own = endpoint("client", CN_MANUAL_PROGRESS);
    cn_operation* operation = nullptr;
    require(cn_connect(own, shared->address, nullptr, &operation) == CN_OK, "cn_connect");
    require(cn_wait(operation, 5000) == CN_OK, "cn_connect");
    shared->result = ask(own, cn_operation_peer(operation), *shared);
  });
  waitpid(client, nullptr, 0);
  stop(server);
  const double result = shared->result;
  munmap(shared, sizeof(Shared));
  return result;
}

// Returns memory that was never written, as ucx_perftest sends: all its pages are the same one, and are read from the
// cache.
const char* never_written(size_t size) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "mmap");
  return static_cast<const char*>(memory);
}

// Half of a round trip, in microseconds.
double own_latency(size_t size, int count) {
  const auto echo = [](void*, cn_message* message) {
    cn_send(cn_message_peer(message), 1, 0, cn_message_data(message), cn_message_size(message), nullptr, nullptr);
  };
  return measure([&](cn_endpoint* own, Shared&) { cn_set_handler(own, 1, echo, nullptr); },
                 [&](cn_endpoint* own, cn_peer* peer, Shared&) {
                   static int left;
                   const auto again = [](void*, cn_message* message) {
                     if (--left > 0)
                       cn_send(cn_message_peer(message), 1, 0, cn_message_data(message), cn_message_size(message),
                               nullptr, nullptr);
                   };
                   cn_set_handler(own, 1, again, nullptr);
                   const std::vector<char> bytes(size);
                   double best = 1e9;
                   for (int round = 0; round < kRepeated; ++round) {
                     left = count;
                     const auto begin = Clock::now();
                     cn_send(peer, 1, 0, bytes.data(), size, nullptr, nullptr);
                     while (left > 0) cn_progress(own, 1000);
                     best = std::min(best, seconds(begin) / count / 2 * 1e6);
                   }
                   return best;
                 });
}

// Bytes per second of messages.
double own_messages(size_t size, int count) {
  static int expected;
  expected = count;
  const auto take = [](void*, cn_message* message) {
    static int seen = 0;
    if (++seen % expected == 0) cn_send(cn_message_peer(message), 2, 0, nullptr, 0, nullptr, nullptr);
  };
  return measure([&](cn_endpoint* own, Shared&) { cn_set_handler(own, 1, take, nullptr); },
                 [&](cn_endpoint* own, cn_peer* peer, Shared&) {
                   static int answers;
                   cn_set_handler(
                       own, 2, [](void*, cn_message*) { ++answers; }, nullptr);
                   const char* const bytes = never_written(size);
                   double best = 0;
                   for (int round = 0; round < kRepeated; ++round) {
                     const auto begin = Clock::now();
                     for (int i = 0; i < count; ++i)
                       while (cn_send(peer, 1, 0, bytes, size, nullptr, nullptr) == CN_FULL) cn_progress(own, 0);
                     while (answers <= round) cn_progress(own, 1000);
                     best = std::max(best, static_cast<double>(size) * count / seconds(begin));
                   }
                   return best;
                 });
}

// Bytes per second of reads, `depth` at a time.
double own_reads(size_t size, int count, int depth) {
  return measure(
      [&](cn_endpoint* own, Shared& shared) {
        cn_memory* memory = nullptr;
        cn_memory_register(own, const_cast<char*>(never_written(size)), size, CN_READ, &memory);
        cn_memory_token(memory, CN_READ, &shared.token);
      },
      [&](cn_endpoint*, cn_peer* peer, Shared& shared) {
        std::vector<std::vector<char>> bytes(static_cast<size_t>(depth), std::vector<char>(size, 1));
        std::vector<cn_operation*> operations(static_cast<size_t>(depth));
        double best = 0;
        for (int round = 0; round < kRepeated; ++round) {
          const auto begin = Clock::now();
          for (int i = 0; i < count + depth; ++i) {
            const auto place = static_cast<size_t>(i % depth);
            if (i >= depth) {
              require(cn_wait(operations[place], 20'000) == CN_OK, "cn_read");
              cn_operation_release(operations[place]);
            }
            if (i < count)
              require(cn_read(peer, &shared.token, 0, bytes[place].data(), size, nullptr, &operations[place]) == CN_OK,
                      "cn_read");
          }
          best = std::max(best, static_cast<double>(size) * count / seconds(begin));
        }
        return best;
      });
}

// Runs ucx_perftest, and returns the number in a column of its last line.
double perftest(const char* test, size_t size, int count, int column) {
  static int port = 19000 + getpid() % 1000;
  ++port;
  const std::string base = "ucx_perftest -e -p " + std::to_string(port);
  const std::string command = base + " >/dev/null 2>&1 & sleep 0.3; " + base + " 127.0.0.1 -f -t " + test + " -s " +
                              std::to_string(size) + " -n " + std::to_string(count) + " 2>/dev/null; wait";
  FILE* const output = popen(command.c_str(), "r");
  std::string last;
  char line[512];
  while (std::fgets(line, sizeof line, output)) last = line;
  pclose(output);
  std::vector<double> numbers;
  for (char* word = std::strtok(last.data(), " \n"); word; word = std::strtok(nullptr, " \n"))
    numbers.push_back(std::atof(word));
  return static_cast<size_t>(column) < numbers.size() ? numbers[static_cast<size_t>(column)] : 0;
}

// Takes all measurements in turn, several times, and returns the median of each.
std::vector<double> medians(int rounds, const std::vector<std::function<double()>>& measurements) {
  std::vector<std::vector<double>> found(measurements.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < measurements.size(); ++i) found[i].push_back(measurements[i]());
  std::vector<double> result;
  for (std::vector<double>& each : found) {
    std::ranges::sort(each);
    result.push_back(each[each.size() / 2]);
  }
  return result;
}

}  // namespace

// Arguments: the beginning of the names of the rows to print, or "" for all; the number of rounds.
int main(int arguments, char** argument) {
  const std::string wanted = arguments > 1 ? argument[1] : "";
  const int rounds = arguments > 2 ? std::atoi(argument[2]) : 5;
  setenv("UCX_TLS", "tcp", 0);
  setenv("UCX_NET_DEVICES", "lo", 0);
  // The columns of ucx_perftest: iterations, median, average and overall latency, average and overall MB/s.
  constexpr int kLatency = 1, kBandwidth = 5;
  constexpr double kMega = 1 << 20;
  if (std::string("64 bytes").starts_with(wanted)) {
    const std::vector<double> found = medians(rounds, {
                                                          [] { return own_latency(64, 20'000); },
                                                          [] { return perftest("ucp_am_lat", 64, 20'000, kLatency); },
                                                      });
    std::printf(
        "{\"what\": \"64 bytes, half a round trip\", \"unit\": \"us\", \"ours\": %.4g, \"ucx_perftest\": %.4g}\n",
        found[0], found[1]);
    std::fflush(stdout);
  }
  for (const size_t size : {64u << 10, 1u << 20, 16u << 20, 64u << 20}) {
    const std::string name = std::to_string(size >> 10) + " KiB";
    if (!name.starts_with(wanted)) continue;
    const int count = std::max(8, static_cast<int>((512u << 20) / size));
    const std::vector<double> found =
        medians(rounds, {
                            [&] { return own_messages(size, count) / kMega; },
                            [&] { return own_reads(size, count, 4) / kMega; },
                            [&] { return own_reads(size, count, 1) / kMega; },
                            [&] { return perftest("ucp_am_bw", size, count, kBandwidth); },
                            [&] { return perftest("ucp_get", size, count, kBandwidth); },
                        });
    std::printf(
        "{\"what\": \"%s\", \"unit\": \"MiB/s\", \"messages\": %.4g, \"reads, 4 at a time\": %.4g, \"reads\": "
        "%.4g, \"ucp_am_bw\": %.4g, \"ucp_get\": %.4g}\n",
        name.c_str(), found[0], found[1], found[2], found[3], found[4]);
    std::fflush(stdout);
  }
}
