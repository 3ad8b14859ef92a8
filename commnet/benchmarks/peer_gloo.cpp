// Measures gloo over TCP: what=round_trips of 8 bytes, messages: of 1 MiB. Prints a JSON object.
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <filesystem>
#include <memory>

#include "processes.h"

namespace {

constexpr uint64_t kSlot = 1;

struct Side {
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::vector<char> bytes;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;

  Side(const std::string& folder, int rank, size_t size)
      : context(std::make_shared<gloo::rendezvous::Context>(rank, 2)), bytes(size, 1) {
    gloo::rendezvous::FileStore store(folder);
    auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
    context->connectFullMesh(store, device);
    buffer = context->createUnboundBuffer(bytes.data(), size);
  }
  void send() const {
    buffer->send(1 - context->rank, kSlot);
    buffer->waitSend();
  }
  void receive() const {
    buffer->recv(1 - context->rank, kSlot);
    buffer->waitRecv();
  }
};

}  // namespace

int main(int count, char** values) {
  const Arguments given(count, values);
  const bool is_one_way = given.text("what") == "messages";
  const size_t size = is_one_way ? 1 << 20 : 8;
  // The two processes meet in a folder.
  std::string folder = std::filesystem::temp_directory_path() / "commnet-bench-XXXXXX";
  require(mkdtemp(folder.data()) != nullptr, "mkdtemp");
  Shared& shared = *map_shared();
  const pid_t server = start(given.cpu(1), [&] {
    const Side side(folder, 1, size);
    for (;;) {
      if (!is_one_way) side.receive();
      side.send();
    }
  });
  const pid_t client = start(given.cpu(0), [&] {
    const Side side(folder, 0, size);
    Meter meter(shared.clients[0], is_one_way ? 20 : 2, 200, 16);
    meter.begin();
    do {
      if (!is_one_way) side.send();
      side.receive();
    } while (meter.tick());
    stop();
  });
  finish(shared, {client}, {server});
  std::filesystem::remove_all(folder);
  const double best = best_window(shared);
  std::printf("{\"us\": %.4f, \"gb_s\": %.4f}\n", best * 1e6, static_cast<double>(size) / best / 1e9);
}
