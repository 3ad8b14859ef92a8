// The worker threads that all kernels share.
//
// A parallel region hands out numbered tasks. What a task computes must depend on its number only, never on which
// thread runs it or how many there are: results then repeat bit for bit under every thread count.
#ifndef ONEFLOW_DEVICES_CPU_THREAD_POOL_H_
#define ONEFLOW_DEVICES_CPU_THREAD_POOL_H_

#include <cstdint>
#include <type_traits>

namespace oneflow::cpu {

// Calls task(context, i) once for each i in [0, count), on this thread and on idle workers; returns when all are done.
// Runs everything on this thread when it is inside a region already or another thread is using the workers. Rethrows
// one of the exceptions that tasks throw, after all tasks.
void run_tasks(int64_t count, void (*task)(void* context, int64_t index), void* context);

// run_tasks() over a callable.
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

struct Range {
  int64_t begin, count;
};
// Part i of so many, as even as can be.
inline Range part(int64_t size, int64_t i, int64_t parts) {
  const int64_t begin = size * i / parts;
  return {begin, size * (i + 1) / parts - begin};
}

// The share of a region's tasks that task `index` is in, which begin on one thread, in order.
Range share_of(int64_t index, int64_t count);

// How many tasks of `size` cover `count`.
inline int64_t divide_up(int64_t count, int64_t size) { return (count + size - 1) / size; }
// The next whole number of `unit`.
inline int64_t round_up(int64_t count, int64_t unit) { return divide_up(count, unit) * unit; }

// The most threads that a region uses, the caller included. At least 1; hardware threads until it is set.
int thread_count();
void set_thread_count(int count);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_THREAD_POOL_H_
