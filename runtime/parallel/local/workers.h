// Host threads for devices that work synchronously on the calling thread.
#ifndef ONEFLOW_PARALLEL_LOCAL_WORKERS_H_
#define ONEFLOW_PARALLEL_LOCAL_WORKERS_H_

#include <cstdint>
#include <functional>

namespace oneflow::collective {

// Calls `work` on `threads` threads, one of them the calling thread, and waits for all. Throws the first exception;
// `work` itself must make the other threads stop.
void run_on_threads(int threads, const std::function<void()>& work);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_LOCAL_WORKERS_H_
