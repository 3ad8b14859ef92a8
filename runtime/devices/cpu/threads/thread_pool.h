// The worker threads that all kernels share.
//
// A kernel splits its work into numbered tasks and runs them in a parallel region. The result of a task must depend on
// its number only, not on the thread that runs it or on the number of threads: results are then bitwise equal for every
// thread count.
#ifndef ONEFLOW_DEVICES_CPU_THREADS_THREAD_POOL_H_
#define ONEFLOW_DEVICES_CPU_THREADS_THREAD_POOL_H_

#include <cstdint>
#include <type_traits>

#include "threads/partition.h"

namespace oneflow::cpu {

// Calls task(context, i) once for each i in [0, count), on the calling thread and on idle workers, and returns when all
// calls have returned. Nested regions, and regions that start while another thread uses the workers, run on the calling
// thread alone. If tasks throw, rethrows one of their exceptions after all tasks have run. If the calling thread is
// interrupted, throws Interrupted after the tasks that run then; the others do not run.
void run_tasks(int64_t count, void (*task)(void* context, int64_t index), void* context);

// Throws Interrupted if the thread that opened the region is interrupted, or this thread outside of a region. For tasks
// that take long, between their parts.
void leave_if_interrupted();

// Calls allocate(bytes) on the thread that opened the region of this thread, once that has no more tasks, and returns
// the result. Returns NULL at once on a thread that is no worker. A worker that runs out of memory calls this, because
// the runtime may have to ask the caller's language for memory, on a thread of that language.
void* allocate_on_opening_thread(void* (*allocate)(int64_t bytes), int64_t bytes);

// Calls task(i) for each i in [0, count) by run_tasks().
template <class Task>
void parallel_for(int64_t count, Task&& task) {
  if (count <= 1) {
    if (count == 1) task(int64_t{0});
    return;
  }
  using Callable = std::remove_reference_t<Task>;
  run_tasks(
      count, [](void* context, int64_t index) { (*static_cast<Callable*>(context))(index); }, &task);
}

// Returns the share of a region's `count` tasks that contains task `index`: consecutive tasks, which one thread runs in
// order unless an idle thread takes over some of them.
Range share_of(int64_t index, int64_t count);

// The largest number of threads that can be set.
inline constexpr int kMaxThreads = 1024;
// Returns the maximum number of threads of a region, the calling thread included: the number that was set, or that of
// the environment variable ONEFLOW_NUM_THREADS, or the number of processors that this process may use at a time, by its
// affinity and the quotas of its control groups.
int thread_count();
// Sets the maximum number of threads of a region, at least 1.
void set_thread_count(int count);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_THREADS_THREAD_POOL_H_
