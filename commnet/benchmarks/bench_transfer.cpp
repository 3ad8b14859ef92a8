// Measures how fast large transfers of one size go one way, `depth` of them under way at a time, while both sides look
// for work all the time. what=messages, reads or writes; the memory of reads and writes is the program's own or, with
// allocated=1, the library's. It was written before, unless written=0: then what is read has never been. Prints a JSON
// object: GB/s.
#include <functional>
#include <utility>

#include "endpoints.h"

namespace {

constexpr uint32_t kTake = 1;

// Keeps transfers under way: the end of each begins another one.
struct Sender {
  std::function<cn_status(const cn_call&)> transfer;
  Meter* meter;  // NULL: the receiver measures
  std::atomic<bool> ends{false};

  void begin() {
    cn_call call{};
    call.struct_size = sizeof call;
    call.user = this;
    call.done = [](void* user, cn_status status, const char* error) {
      require(status == CN_OK, "a transfer", error);
      static_cast<Sender*>(user)->done();
    };
    const cn_status status = transfer(call);
    if (status != CN_FULL) check(status, "a transfer");  // else those under way go on
  }
  void done() {
    if (meter && !ends && !meter->tick()) {
      ends = true;
      ends.notify_all();
    }
    if (!ends) begin();
  }
};

struct Benchmark {
  const Arguments given;
  const Kind kind{given};
  const std::string what = given.text("what", "messages");
  const size_t size = given.number("size", 1 << 20), depth = given.number("depth", 4);
  Shared& shared = *map_shared();

  bool is_of_messages() const { return what == "messages"; }
  Meter meter() const { return {shared.clients[0], 5, 150, static_cast<unsigned>(2 * depth)}; }

  cn_memory* memory(cn_endpoint* own) const {
    constexpr uint32_t kRights = CN_READ | CN_WRITE;
    cn_memory* result = nullptr;
    if (given.number("allocated", 0) != 0) {
      void* data = nullptr;
      check(cn_memory_alloc(own, size, kRights, &data, &result), "cn_memory_alloc");
      std::memset(data, 1, size);
    } else {
      void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      require(data != MAP_FAILED, "mmap");
      if (given.number("written", 1) != 0) std::memset(data, 1, size);
      check(cn_memory_register(own, data, size, kRights, &result), "cn_memory_register");
    }
    return result;
  }

  void own() const {
    cn_endpoint* const own = kind.endpoint("owner");
    if (!is_of_messages()) {
      publish(shared.servers[0], own, memory(own));
      return kind.serve(own);
    }
    Receiver receiver{meter()};
    const auto take = [](void* user, cn_message*) { static_cast<Receiver*>(user)->take(); };
    check(cn_set_handler(own, kTake, take, &receiver), "cn_set_handler");
    publish(shared.servers[0], own);
    kind.run(own, receiver.ends);
    stop();
  }

  void transfer() const {
    cn_endpoint* const own = kind.endpoint("user");
    cn_peer* const peer = connect(own, shared, 0);
    const cn_token token = token_of(shared.servers[0]);
    std::vector<char> bytes(size, 1);
    Meter measured = meter();
    Sender sender{{}, is_of_messages() ? nullptr : &measured};
    if (is_of_messages())
      sender.transfer = [&](const cn_call& call) {
        return cn_send(peer, kTake, 0, bytes.data(), size, &call, nullptr);
      };
    else if (what == "reads")
      sender.transfer = [&](const cn_call& call) {
        return cn_read(peer, &token, 0, bytes.data(), size, &call, nullptr);
      };
    else
      sender.transfer = [&](const cn_call& call) {
        return cn_write(peer, &token, 0, bytes.data(), size, &call, nullptr);
      };
    measured.begin();
    for (size_t i = 0; i < depth; ++i) sender.begin();
    kind.run(own, sender.ends);
    stop();
  }

  void run() const {
    const pid_t owner = start(given.cpu(1), [&] { own(); });
    const pid_t user = start(given.cpu(0), [&] { transfer(); });
    if (is_of_messages())
      finish(shared, {owner}, {user});
    else
      finish(shared, {user}, {owner});
    std::printf("{\"gb_s\": %.4f, \"transport\": \"%s\"}\n", static_cast<double>(size) / best_window(shared) / 1e9,
                shared.transport);
  }
};

}  // namespace

int main(int count, char** values) { Benchmark{Arguments(count, values)}.run(); }
