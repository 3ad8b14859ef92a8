#include "collector.h"

#include <oneflow/oneflow.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "environment.h"

namespace oneflow::node {
namespace {

// How long a worker waits for the JavaScript thread before its allocation fails.
constexpr std::chrono::seconds kLongestWait{5};

// The collectors of the environments that run on this thread. A thread has several if it has loaded the addon again.
thread_local std::vector<Collector*> on_thread;
// The collector of the environment that this thread works for; NULL unless it is a worker thread.
thread_local Collector* of_worker = nullptr;

}  // namespace

Collector::Collector(Environment& environment) : environment_(environment) {
  on_thread.push_back(this);
  of_set_memory_pressure_callback(relieve, nullptr);
}

bool Collector::relieve(void*, uint64_t) { return of_worker != nullptr ? of_worker->ask() : collect(); }

bool Collector::collect() {
  const auto run = [](const Collector* each) { return each->environment_.run_garbage_collector(); };
  if (std::none_of(on_thread.begin(), on_thread.end(), run)) return false;
  for (const Collector* each : on_thread) each->environment_.release_collected();
  return true;
}

bool Collector::start() {
  if (wake_ != nullptr) return true;
  const napi_env env = environment_.env();
  const auto on_wake = [](napi_env env, napi_value, void* self, void*) {
    if (env != nullptr) static_cast<Collector*>(self)->answer();
  };
  napi_value name;
  if (napi_create_string_utf8(env, "oneflow collector", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, on_wake, &wake_) !=
          napi_ok) {
    return false;
  }
  napi_unref_threadsafe_function(env, wake_);  // the work that asks keeps the process alive
  return true;
}

void Collector::serve_worker() { of_worker = this; }

bool Collector::ask() {
  std::unique_lock lock(mutex_);
  if (is_closed_) return false;
  const uint64_t request = asked_.load(std::memory_order_relaxed) + 1;
  asked_.store(request, std::memory_order_relaxed);
  if (napi_call_threadsafe_function(wake_, nullptr, napi_tsfn_nonblocking) != napi_ok) return false;
  changed_.wait_for(lock, kLongestWait, [&] { return is_closed_ || answered_ >= request; });
  return answered_ >= request && failed_ < request;
}

void Collector::answer_now() {
  uint64_t request;
  {
    const std::lock_guard lock(mutex_);
    request = asked_.load(std::memory_order_relaxed);
  }
  const bool has_collected = collect();  // begins after all these requests
  {
    const std::lock_guard lock(mutex_);
    answered_ = request;
    if (!has_collected) failed_ = request;
  }
  changed_.notify_all();
}

void Collector::close() {
  std::erase(on_thread, this);
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace oneflow::node
