// A server keeps the weights of a model, which workers read; they send it gradients, each when it has one.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <semaphore>

#include "processes.h"

namespace {

constexpr uint32_t kRanks = 4, kWeights = 8, kSteps = 300, kBatch = 32;
constexpr uint32_t kToken = 1, kGradient = 2, kAdded = 3;  // numbers of handlers
constexpr float kRate = 0.02f;
using Weights = std::array<float, kWeights>;

float right_weight(size_t i) { return static_cast<float>(i) - 3.5f; }  // what is to be learnt

commnet::Endpoint create(const std::string& name) { return commnet::Endpoint({.name = name, .secret = "weights"}); }

bool serve(const std::string& folder) {
  Weights weights{};
  std::promise<void> all_done;
  uint32_t count = 0;
  // After what its handlers use, so that it is closed before that ends.
  commnet::Endpoint endpoint = create("server");
  const commnet::Memory memory = endpoint.share(std::as_writable_bytes(std::span(weights)), CN_READ);
  // Handlers run one at a time, so that the weights need no lock. Workers may read a part of an update; this method
  // does not mind.
  endpoint.on_message(kGradient, [&](commnet::Message message) {
    if (message.bytes().size() != sizeof(Weights)) return;
    const auto* const gradient = reinterpret_cast<const float*>(message.bytes().data());
    for (size_t i = 0; i < kWeights; ++i) weights[i] -= kRate * gradient[i];
    commnet::Peer(message.peer()).send_copy(kAdded, "");
    if (++count == kSteps * (kRanks - 1)) all_done.set_value();
  });
  const commnet::Token token = memory.token(CN_READ);
  const std::vector<commnet::Peer> workers = join(endpoint, 0, kRanks, folder);
  for (uint32_t rank = 1; rank < kRanks; ++rank)
    workers[rank].send(kToken, std::as_bytes(std::span(token.bytes))).get();

  if (all_done.get_future().wait_for(std::chrono::seconds(30)) != std::future_status::ready) return false;
  float error = 0;
  for (size_t i = 0; i < kWeights; ++i) error = std::max(error, std::fabs(weights[i] - right_weight(i)));
  std::printf("%u gradients, the largest error of a weight is %.4f\n", count, error);
  return error < 0.1f;
}

Weights gradient_of(const Weights& weights, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Weights gradient{};
  for (uint32_t sample = 0; sample < kBatch; ++sample) {
    Weights x;
    float difference = 0;
    for (size_t i = 0; i < kWeights; ++i) {
      x[i] = normal(random);
      difference += x[i] * (weights[i] - right_weight(i));
    }
    for (size_t i = 0; i < kWeights; ++i) gradient[i] += 2 * difference * x[i] / kBatch;
  }
  return gradient;
}

bool work(uint32_t rank, const std::string& folder) {
  std::promise<commnet::Token> arrived;
  commnet::Endpoint endpoint = create("worker" + std::to_string(rank));
  endpoint.on_message(kToken, [&](commnet::Message message) {
    commnet::Token token;
    if (message.bytes().size() != sizeof token.bytes) return;
    std::copy_n(reinterpret_cast<const uint8_t*>(message.bytes().data()), sizeof token.bytes, token.bytes);
    arrived.set_value(token);
  });
  std::counting_semaphore added(0);
  endpoint.on_message(kAdded, [&](commnet::Message) { added.release(); });
  const commnet::Peer server = join(endpoint, rank, kRanks, folder)[0];
  const commnet::Token token = arrived.get_future().get();

  std::mt19937 random(rank);
  Weights weights;
  for (uint32_t step = 0; step < kSteps; ++step) {
    server.read(token, 0, std::as_writable_bytes(std::span(weights))).get();
    const Weights gradient = gradient_of(weights, random);
    server.send(kGradient, std::as_bytes(std::span(gradient))).get();
    // The next read does not wait for the server: it could be of weights that are old.
    added.acquire();
  }
  return true;
}

bool run(uint32_t rank, const std::string& folder) { return rank == 0 ? serve(folder) : work(rank, folder); }

}  // namespace

int main() { return run_processes(kRanks, run); }
