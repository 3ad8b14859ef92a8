// Memory whose elements are computed when they are first needed.
#ifndef ONEFLOW_TENSOR_DEFERRED_H_
#define ONEFLOW_TENSOR_DEFERRED_H_

#include <oneflow/oneflow.h>

#include <atomic>

#include "base/fork_safe.h"
#include "base/ref.h"

namespace oneflow {

class Buffer;
struct MakingThread;

// How a buffer is computed. `make` returns one of the device, with at least this size, or throws; no mutex is held
// while it runs. `destroy` may be null.
struct Recipe {
  of_device device;
  uint64_t bytes;
  Ref<Buffer> (*make)(void* context);
  of_deleter destroy;
  void* context;
};

// Computes a buffer once, however many threads need it. Owns the context of the recipe.
class Deferred {
 public:
  explicit Deferred(const Recipe& recipe) : recipe_(recipe) {}
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;
  ~Deferred() { destroy_context(); }

  of_device device() const { return recipe_.device; }
  uint64_t bytes() const { return recipe_.bytes; }

  // Stores the buffer, with a reference to it, unless that is done; waits for another thread that computes it. Throws
  // what `make` throws, after which another call may try again; InternalError within `make` itself, also if it waits
  // for a thread that waits for this one.
  void make_into(std::atomic<Buffer*>& buffer);

 private:
  // Returns the thread that runs `make`; null: none.
  MakingThread* maker() const;
  void check_that_no_thread_waits_for_itself() const;
  void destroy_context();

  Recipe recipe_;
  // Guarded by one mutex for all objects.
  Ongoing making_;
  MakingThread* maker_ = nullptr;  // the thread that runs `make`, while it does
};

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_DEFERRED_H_
