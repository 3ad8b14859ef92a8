#include "threads/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "plugin/environment.h"
#include "plugin/host.h"
#include "plugin/processors.h"

namespace oneflow::cpu {
namespace {

// Iterations of a spin loop before a thread sleeps: of an idle worker that waits for a region, which covers the gap
// between two kernels of one expression; and of the thread that opened a region and waits for its last tasks. Spinning
// pays off because waking a sleeping thread takes as long.
constexpr int kIdleSpins = 5000, kClosingSpins = 20000;

template <class Condition>
void spin_until(int times, Condition condition) {
  for (int i = 0; i < times && !condition(); ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

constexpr int kMaxShares = 64;

// A parallel region. Each thread has a share of consecutive tasks, and takes tasks of the other shares when its own is
// done. The next region over the same memory then finds it in the caches of the same cores; moving it between cores is
// slow.
class Region {
 public:
  Region(void (*task)(void* context, int64_t index), void* context, int64_t count, int threads)
      : task_(task),
        context_(context),
        threads_(static_cast<int>(std::min<int64_t>(threads, count))),
        share_count_(std::min(threads_, kMaxShares)) {
    for (int i = 0; i < share_count_; ++i) {
      const Range share = part(count, i, share_count_);
      shares_[i].next.store(share.begin, std::memory_order_relaxed);
      shares_[i].end = share.begin + share.count;
    }
  }

  // Returns the innermost region that this thread works on, or NULL.
  static Region* current() { return current_; }

  // Returns how many threads may work on the region.
  int threads() const { return threads_; }

  // Runs tasks until none is left, those of the share of thread number `thread` first.
  void work(int thread) {
    current_ = this;
    for (int i = 0; i < share_count_ && !is_left(); ++i) {
      Share& share = shares_[(thread + i) % share_count_];
      for (int64_t index = share.take(); index < share.end && !is_left(); index = share.take()) run(index);
    }
    current_ = outer_;
  }

  // Makes all threads leave the tasks that have not begun.
  void leave() { is_left_.store(true, std::memory_order_relaxed); }

  // Returns whether the threads leave the tasks that have not begun, as they do once a thread is interrupted.
  bool is_left() {
    if (is_interrupted()) leave();
    return is_left_.load(std::memory_order_relaxed) || (outer_ != nullptr && outer_->is_left());
  }

  void rethrow() const {
    if (failed_) std::rethrow_exception(error_);
    if (is_left_) throw Interrupted();
  }

 private:
  static inline thread_local constinit Region* current_ = nullptr;

  // The tasks [next, end) of a share, on a cache line of its own.
  struct alignas(64) Share {
    int64_t take() { return next.fetch_add(1, std::memory_order_relaxed); }

    std::atomic<int64_t> next;
    int64_t end;
  };

  void run(int64_t index) {
    try {
      task_(context_, index);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  void (*const task_)(void* context, int64_t index);
  void* const context_;
  const int threads_, share_count_;
  Region* const outer_ = current_;
  Share shares_[kMaxShares];
  std::atomic<bool> failed_{false}, is_left_{false};
  std::exception_ptr error_ = nullptr;  // of the task that set `failed_`
};

// The worker threads. Workers wait until `generation_` increases, join the region that is then current, and leave it
// when no task is left. The thread that opened the region closes it by clearing `region_`, so that no more workers
// join, and waits until all have left.
class Pool {
 public:
  // Runs a region and returns true, or returns false at once if another thread's region is in progress.
  bool try_run(Region& region, int threads) {
    const std::unique_lock<std::mutex> in_use(use_, std::try_to_lock);
    if (!in_use.owns_lock()) return false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      start_workers(threads - 1);
      region_ = &region;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    region.work(0);
    if (!is_current()) {  // a child that was forked by an interrupt of the region: the workers stayed in the parent
      region.leave();
      return true;
    }
    const auto have_left = [this] { return joined_.load(std::memory_order_acquire) == 0; };
    std::unique_lock<std::mutex> lock(mutex_);
    region_ = nullptr;
    lock.unlock();
    spin_until(kClosingSpins, have_left);
    lock.lock();
    for (;;) {
      changed_.wait(lock, [&] { return have_left() || requests_ != nullptr; });
      if (requests_ == nullptr) return true;
      answer(lock);
    }
  }

  // Returns the pool that this thread is a worker of, or NULL.
  static Pool* served() { return served_; }

  // See allocate_on_opening_thread().
  void* request(void* (*allocate)(int64_t bytes), int64_t bytes) {
    Request own{allocate, bytes};
    std::unique_lock<std::mutex> lock(mutex_);
    own.next = std::exchange(requests_, &own);
    changed_.notify_all();
    changed_.wait(lock, [&] { return own.is_answered; });
    return own.memory;
  }

 private:
  // A worker's request for memory, which lives on its stack.
  struct Request {
    void* (*allocate)(int64_t bytes);
    int64_t bytes;
    Request* next = nullptr;
    void* memory = nullptr;
    bool is_answered = false;
  };

  static inline thread_local constinit Pool* served_ = nullptr;

  // Answers the last request. Requires that mutex_ is held, which it unlocks meanwhile.
  void answer(std::unique_lock<std::mutex>& lock) {
    Request& request = *std::exchange(requests_, requests_->next);
    lock.unlock();
    request.memory = request.allocate(request.bytes);
    lock.lock();
    request.is_answered = true;
    changed_.notify_all();
  }

  bool is_current() const;

  // Starts threads until there are `wanted` workers. Requires that mutex_ is held. If the system refuses more threads,
  // the pool works with fewer.
  void start_workers(int wanted) {
    while (workers_ < wanted) {
      try {
        std::thread([this, thread = workers_ + 1] { serve(thread); }).detach();
      } catch (const std::system_error&) {
        return;
      }
      ++workers_;
    }
  }

  [[noreturn]] void serve(int thread) {
    served_ = this;
    uint64_t seen = 0;
    for (;;) {
      spin_until(kIdleSpins, [&] { return generation_.load(std::memory_order_acquire) != seen; });
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return generation_.load(std::memory_order_relaxed) != seen; });
      seen = generation_.load(std::memory_order_relaxed);
      if (region_ == nullptr || thread >= region_->threads()) continue;
      Region& region = *region_;
      ++joined_;
      lock.unlock();
      region.work(thread);
      lock.lock();
      if (--joined_ == 0) changed_.notify_all();
    }
  }

  std::mutex use_;  // held for as long as a region runs
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable changed_;  // all workers have left; a request is made or answered
  std::atomic<uint64_t> generation_{0};
  Region* region_ = nullptr;
  Request* requests_ = nullptr;
  std::atomic<int> joined_{0};
  int workers_ = 0;
};

// The pool of this process. It is never destroyed, because workers may outlive every destructor of the process. After a
// fork, the child has no workers, and locks in unknown states: it creates a new pool and abandons the old one.
std::atomic<Pool*> current_pool{nullptr};
const bool has_fork_handler = pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); }) == 0;

bool Pool::is_current() const { return current_pool.load(std::memory_order_relaxed) == this; }

// Returns the pool, or NULL if it cannot be allocated.
Pool* pool() {
  Pool* existing = current_pool.load(std::memory_order_acquire);
  if (existing != nullptr) return existing;
  Pool* fresh = has_fork_handler ? new (std::nothrow) Pool : nullptr;
  if (fresh == nullptr || current_pool.compare_exchange_strong(existing, fresh)) return fresh;
  delete fresh;
  return existing;
}

// Returns the number of threads that can run at the same time, unless ONEFLOW_NUM_THREADS says another one.
int initial_threads() { return environment_number("ONEFLOW_NUM_THREADS", kMaxThreads, usable_processors()); }

std::atomic<int> chosen_threads{0};  // 0 until set_thread_count() is called

}  // namespace

int thread_count() {
  const int chosen = chosen_threads.load(std::memory_order_relaxed);
  if (chosen != 0) return chosen;
  static const int initial = initial_threads();
  return initial;
}

Range share_of(int64_t index, int64_t count) {
  const int64_t shares = std::min<int64_t>({thread_count(), count, kMaxShares}), i = index * shares / count;
  const Range share = part(count, i, shares);
  return index < share.begin + share.count ? share : part(count, i + 1, shares);
}

void set_thread_count(int count) { chosen_threads.store(std::max(1, count), std::memory_order_relaxed); }

void run_tasks(int64_t count, void (*task)(void* context, int64_t index), void* context) {
  const int threads = thread_count();
  Region region(task, context, count, threads);
  Pool* workers = threads > 1 && count > 1 && Region::current() == nullptr ? pool() : nullptr;
  if (workers == nullptr || !workers->try_run(region, threads)) region.work(0);
  region.rethrow();
}

void* allocate_on_opening_thread(void* (*allocate)(int64_t bytes), int64_t bytes) {
  Pool* const served = Pool::served();
  return served != nullptr ? served->request(allocate, bytes) : nullptr;
}

void leave_if_interrupted() {
  Region* const region = Region::current();
  if (region != nullptr ? region->is_left() : is_interrupted()) throw Interrupted();
}

}  // namespace oneflow::cpu
