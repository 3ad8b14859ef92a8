// The stages of a model, one in each process: each writes its results into the memory of the next one, and goes on with
// the next batch while that works on them.
#include <semaphore>
#include <stdexcept>

#include "processes.h"

namespace {

constexpr uint32_t kStages = 4, kBatches = 50, kSlots = 3;  // slots: batches that may wait for a stage
constexpr size_t kNumbers = 50'000;                         // of a batch
constexpr uint32_t kToken = 1, kFilled = 2, kFree = 3;      // numbers of handlers
using Batch = std::vector<float>;

void acquire(std::counting_semaphore<>& semaphore) {
  if (!semaphore.try_acquire_for(std::chrono::seconds(20))) throw std::runtime_error("a neighbour does not go on");
}

bool run(uint32_t stage, const std::string& folder) {
  const bool is_first = stage == 0, is_last = stage == kStages - 1;
  Batch slots(is_first ? 0 : kSlots * kNumbers), results(kNumbers);
  std::counting_semaphore<> filled(0), free(kSlots);  // slots of this stage, slots of the next one
  std::promise<commnet::Token> arrived;

  // After what its handlers use, so that it is closed before that ends.
  commnet::Endpoint endpoint({.name = "stage" + std::to_string(stage), .secret = "pipeline"});
  endpoint.on_message(kFilled, [&](commnet::Message) { filled.release(); });
  endpoint.on_message(kFree, [&](commnet::Message) { free.release(); });
  endpoint.on_message(kToken, [&](commnet::Message message) {
    commnet::Token token{};
    const std::span<const std::byte> bytes = message.bytes();
    std::copy_n(bytes.begin(), std::min(bytes.size(), sizeof token),
                std::as_writable_bytes(std::span(token.bytes)).begin());
    arrived.set_value(token);
  });
  const commnet::Memory memory = endpoint.share(std::as_writable_bytes(std::span(slots)), CN_WRITE);
  const std::vector<commnet::Peer> stages = join(endpoint, stage, kStages, folder);
  if (!is_first) {
    const commnet::Token own = memory.token(CN_WRITE);
    stages[stage - 1].send(kToken, std::as_bytes(std::span(own.bytes))).get();
  }
  const commnet::Token next = is_last ? commnet::Token{} : arrived.get_future().get();

  for (uint32_t batch = 0; batch < kBatches; ++batch) {
    const size_t slot = batch % kSlots;
    if (is_first) {
      results.assign(kNumbers, static_cast<float>(batch));
    } else {
      acquire(filled);
      for (size_t i = 0; i < kNumbers; ++i) results[i] = 2 * slots[slot * kNumbers + i] + 1;
      stages[stage - 1].send_copy(kFree, "");
    }
    if (is_last) {
      for (const float number : results)
        if (number != static_cast<float>((batch + 1) << (kStages - 1)) - 1) return false;
    } else {
      acquire(free);
      stages[stage + 1].write(next, slot * kNumbers * sizeof(float), std::as_bytes(std::span(results))).get();
      stages[stage + 1].send_copy(kFilled, "");  // not before the bytes are there
    }
  }
  // Until the next stage has used everything.
  for (uint32_t i = 0; i < kSlots && !is_last; ++i) acquire(free);
  if (is_last) std::printf("%u batches have passed %u stages\n", kBatches, kStages);
  return true;
}

}  // namespace

int main() { return run_processes(kStages, run); }
