#include "parallel/merge.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>

#include "device/copy.h"
#include "device/device.h"
#include "device/options.h"
#include "dispatch/dispatch.h"
#include "parallel/access.h"
#include "parallel/ranks.h"
#include "parallel/workers.h"

namespace oneflow::collective {

namespace {

constinit const OperatorName kCopy("copy");

// What stays in a core's caches with several operands of it, and what is worth a submission to a device with streams.
constexpr int64_t kCachedBytes = 64 << 10;
constexpr int64_t kSubmittedBytes = 4 << 20;
// Less work than this is done before another thread has started.
constexpr int64_t kBytesPerThread = 1 << 20;

bool is_half(of_dtype dtype) { return dtype == OF_FLOAT16 || dtype == OF_BFLOAT16; }

// A job with its tensors as the kernels of its device see them: empty where they do not reach them.
struct Reached {
  explicit Reached(const Job& job) : job(job) {
    for (const TensorRef& each : job.sources) sources.push_back(reach(*each, job.device));
    for (const TensorRef& each : job.targets) targets.push_back(reach(*each, job.device));
  }

  const Job& job;
  std::vector<TensorRef> sources, targets;
};

// One thread's work: memory that it uses for piece after piece.
class Worker {
 public:
  Worker(const Joining& joining, int64_t piece) : joining_(joining), piece_(piece) {}

  void run(const Reached& reached, Part part) {
    const TensorRef result = join(reached, part);
    for (size_t i = 0; i < reached.targets.size(); ++i) {
      if (const TensorRef& near = reached.targets[i]) {
        const TensorRef target = flat(*near, part);
        if (target->data() != result->data()) call_into(joining_.name, *target, *kCopy, target, result);
      } else {
        const TensorRef target = flat(*reached.job.targets[i], part);
        copy_bytes(target->device(), target->mutable_data(), result->device(), result->data(),
                   static_cast<uint64_t>(result->bytes()));
      }
    }
  }

 private:
  enum class Use { kFirstOperand, kNextOperand, kSum, kResult };
  struct Scratch {
    Use use;
    of_device device;
    TensorRef memory;
  };
  // Memory of which there is one piece per use, device and dtype.
  TensorRef scratch(Use use, of_dtype dtype, of_device device, int64_t size) {
    for (const Scratch& each : scratch_)
      if (each.use == use && each.device == device && each.memory->dtype() == dtype)
        return flat(*each.memory, {0, size});
    scratch_.push_back({use, device, Tensor::allocate(Shape{piece_}, dtype, device)});
    return flat(*scratch_.back().memory, {0, size});
  }

  // A part of a source where the job's device reaches it.
  TensorRef operand(const Reached& reached, size_t source, Part part) {
    if (const TensorRef& near = reached.sources[source]) return flat(*near, part);
    const Job& job = reached.job;
    const TensorRef own = flat(*job.sources[source], part);
    const Use use = source == 0 ? Use::kFirstOperand : Use::kNextOperand;
    TensorRef copy = scratch(use, own->dtype(), job.device, part.size);
    copy_bytes(job.device, copy->mutable_data(), own->device(), own->data(), static_cast<uint64_t>(own->bytes()));
    return copy;
  }

  // Where the last step writes: a target within reach, else memory aside.
  TensorRef place(const Reached& reached, Part part, of_dtype dtype) {
    for (const TensorRef& near : reached.targets)
      if (near) return flat(*near, part);
    return scratch(Use::kResult, dtype, reached.job.device, part.size);
  }

  // The joined elements of a part, on the job's device.
  TensorRef join(const Reached& reached, Part part) {
    const of_device device = reached.job.device;
    const size_t count = reached.sources.size();
    const of_dtype dtype = reached.job.sources[0]->dtype();
    TensorRef joined = operand(reached, 0, part);
    if (count == 1 && !joining_.then) return joined;
    const TensorRef result = place(reached, part, dtype);
    for (size_t i = 1; i < count; ++i) {
      const bool is_last = i + 1 == count && !joining_.then;
      // Half-precision values are only rounded at the end.
      const TensorRef to =
          is_last ? result : scratch(Use::kSum, is_half(dtype) ? OF_FLOAT32 : dtype, device, part.size);
      call_into(joining_.name, *to, *joining_.by, joined, operand(reached, i, part));
      joined = to;
    }
    if (joining_.then) call_into(joining_.name, *result, *joining_.then, joined, static_cast<int64_t>(count));
    return result;
  }

  const Joining& joining_;
  const int64_t piece_;  // the most elements of a part
  std::vector<Scratch> scratch_;
};

int threads_for(int64_t bytes) {
  return static_cast<int>(std::clamp<int64_t>(bytes / kBytesPerThread, 1, get_option("num_threads")));
}

}  // namespace

void run(const Joining& joining, const std::vector<Job>& jobs) {
  std::vector<of_device> devices;
  bool has_streams = false;
  int64_t bytes = 0, longest = 0;
  for (const Job& job : jobs) {
    devices.push_back(job.device);
    for (const auto* list : {&job.sources, &job.targets})
      for (const TensorRef& each : *list) {
        devices.push_back(each->device());
        bytes += each->bytes();
      }
    longest = std::max(longest, job.sources[0]->count());
  }
  if (longest == 0) return;
  for (const of_device device : devices) has_streams |= get_device(device).stream() != nullptr;
  for (const Job& job : jobs)
    for (const TensorRef& each : job.targets) each->mutable_data();  // un-shares the memory, once
  const std::vector<Reached> reached(jobs.begin(), jobs.end());

  const int64_t piece =
      std::min(longest, (has_streams ? kSubmittedBytes : kCachedBytes) / jobs[0].sources[0]->element_bytes());
  // The pieces of all jobs in turns: devices with streams all have something to do.
  const int64_t turns = (longest + piece - 1) / piece;
  const auto step = [&](Worker& worker, int64_t number) {
    const Reached& next = reached[static_cast<size_t>(number) % reached.size()];
    const int64_t start = number / static_cast<int64_t>(reached.size()) * piece;
    const int64_t left = next.job.sources[0]->count() - start;
    if (left > 0) worker.run(next, {start, std::min(left, piece)});
  };
  join_streams(devices);
  std::atomic<int64_t> next{0};
  const int64_t count = turns * static_cast<int64_t>(jobs.size());
  std::exception_ptr failure;
  try {
    run_on_threads(has_streams ? 1 : threads_for(bytes), [&] {
      Worker worker(joining, piece);
      try {
        for (int64_t number = next++; number < count; number = next++) step(worker, number);
      } catch (...) {
        next = count;  // the others stop
        throw;
      }
    });
  } catch (...) {
    failure = std::current_exception();
  }
  // Also after a failure: what was submitted before still reads the memory of others.
  try {
    join_streams(devices);
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace oneflow::collective
