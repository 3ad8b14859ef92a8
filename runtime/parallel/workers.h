// Host threads for work that devices do on the thread that asks for it.
#ifndef ONEFLOW_PARALLEL_WORKERS_H_
#define ONEFLOW_PARALLEL_WORKERS_H_

#include <cstdint>
#include <functional>

namespace oneflow::collective {

// Runs `work` on `threads` threads, the calling one among them, and returns when all are done. Throws the first
// failure; the others are to notice by themselves that nothing is left to do.
void run_on_threads(int threads, const std::function<void()>& work);

}  // namespace oneflow::collective

#endif  // ONEFLOW_PARALLEL_WORKERS_H_
