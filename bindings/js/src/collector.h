// Garbage collections when memory runs out: unreachable tensors may hold enough of it.
#pragma once

#include <node_api.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace oneflow::node {

class Environment;

// Collects the garbage of one environment when the runtime runs out of memory: it then tries the allocation once more,
// in the middle of a call, which therefore runs once.
//
// On a JavaScript thread, the collection runs at once. A worker thread must not touch JavaScript: it asks the thread of
// its environment for a collection, and waits for a limited time, because that thread may itself wait for what the
// worker computes.
class Collector {
 public:
  explicit Collector(Environment& environment);
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Prepares for requests of worker threads. Returns false if that is not possible. Called on the JavaScript thread.
  bool start();
  // Makes the calling thread, a worker of the environment, ask for collections when it runs out of memory.
  void serve_worker();
  // Runs the collection that workers wait for, if any. Called on the JavaScript thread.
  void answer() {
    if (asked_.load(std::memory_order_relaxed) != answered_) answer_now();
  }
  // Ends all waiting, and all collections. Called on the JavaScript thread when the environment ends.
  void close();

 private:
  // The memory-pressure callback. Does nothing on a thread that belongs to no environment.
  static bool relieve(void*, uint64_t bytes_wanted);
  // Collects the garbage of all environments of this JavaScript thread. Returns whether it did.
  static bool collect();
  bool ask();
  void answer_now();

  Environment& environment_;
  napi_threadsafe_function wake_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint64_t> asked_{0};  // the number of requests, which only grows under the mutex
  uint64_t answered_ = 0;           // of these, how many have an answer; only the JavaScript thread changes it
  uint64_t failed_ = 0;             // the last request that was answered without a collection
  bool is_closed_ = false;
};

}  // namespace oneflow::node
