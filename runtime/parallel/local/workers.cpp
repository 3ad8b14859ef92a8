#include "parallel/local/workers.h"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "dispatch/thread_context.h"

namespace oneflow::collective {

void run_on_threads(int threads, const std::function<void()>& work) {
  if (threads == 1) return work();
  std::mutex mutex;
  std::exception_ptr failure;
  const ThreadContext context = ThreadContext::current();
  const auto guarded = [&] {
    context.apply();
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  // Threads live for a single call. Starting them is cheap compared to the work, and a pool would not survive a fork.
  std::vector<std::jthread> helpers;
  try {
    for (int i = 1; i < threads; ++i) helpers.emplace_back(guarded);
  } catch (const std::system_error&) {  // the system has no more threads: the existing ones do the work
  }
  guarded();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace oneflow::collective
