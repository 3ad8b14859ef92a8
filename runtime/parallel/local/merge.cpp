#include "parallel/local/merge.h"

#include <algorithm>
#include <atomic>
#include <functional>

#include "base/first_failure.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/options.h"
#include "dispatch/dispatch.h"
#include "parallel/local/access.h"
#include "parallel/local/ranks.h"
#include "parallel/local/workers.h"

namespace oneflow::collective {

namespace {

constinit const OperatorName kCopy("copy");

// The size of a piece on devices without streams: several operands of it fit in the caches of a core.
constexpr int64_t kCachedBytes = 64 << 10;
// The size of a piece on devices with streams, large enough for the cost of submitting work.
constexpr int64_t kSubmittedBytes = 4 << 20;
// The bytes per thread. With less work per thread, starting threads takes longer than the work.
constexpr int64_t kBytesPerThread = 1 << 20;

bool is_half(of_dtype dtype) { return dtype == OF_FLOAT16 || dtype == OF_BFLOAT16; }

// A job, and its tensors as accessible from its device: NULL for those that are not.
struct AccessibleJob {
  explicit AccessibleJob(const Job& job) : job(job) {
    for (const TensorRef& each : job.sources) sources.push_back(accessible_from(*each, job.device));
    for (const TensorRef& each : job.targets) targets.push_back(accessible_from(*each, job.device));
  }

  const Job& job;
  std::vector<TensorRef> sources, targets;
};

// The work of one thread, with scratch memory that is reused for all pieces.
class Worker {
 public:
  Worker(const MergeOperators& operators, int64_t piece) : operators_(operators), piece_(piece) {}

  // Merges a part of the sources into the targets.
  void run(const AccessibleJob& accessible, Part part) {
    const TensorRef result = merge(accessible, part);
    for (size_t i = 0; i < accessible.targets.size(); ++i) {
      if (const TensorRef& near = accessible.targets[i]) {
        const TensorRef target = flat(*near, part);
        if (target->data() != result->data()) call_into(operators_.name, *target, *kCopy, target, result);
      } else {
        const TensorRef target = flat(*accessible.job.targets[i], part);
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
  // Returns scratch memory. There is one piece per use, device and dtype.
  TensorRef scratch(Use use, of_dtype dtype, of_device device, int64_t size) {
    for (const Scratch& each : scratch_)
      if (each.use == use && each.device == device && each.memory->dtype() == dtype)
        return flat(*each.memory, {0, size});
    scratch_.push_back({use, device, Tensor::allocate(Shape{piece_}, dtype, device)});
    return flat(*scratch_.back().memory, {0, size});
  }

  // Returns a part of a source, copied to the job's device if that cannot access it.
  TensorRef operand(const AccessibleJob& accessible, size_t source, Part part) {
    if (const TensorRef& near = accessible.sources[source]) return flat(*near, part);
    const Job& job = accessible.job;
    const TensorRef own = flat(*job.sources[source], part);
    const Use use = source == 0 ? Use::kFirstOperand : Use::kNextOperand;
    TensorRef copy = scratch(use, own->dtype(), job.device, part.size);
    copy_bytes(job.device, copy->mutable_data(), own->device(), own->data(), static_cast<uint64_t>(own->bytes()));
    return copy;
  }

  // Returns the memory for the result: a part of an accessible target, or scratch memory.
  TensorRef output(const AccessibleJob& accessible, Part part, of_dtype dtype) {
    for (const TensorRef& near : accessible.targets)
      if (near) return flat(*near, part);
    return scratch(Use::kResult, dtype, accessible.job.device, part.size);
  }

  // Returns the merged elements of a part, on the job's device.
  TensorRef merge(const AccessibleJob& accessible, Part part) {
    const of_device device = accessible.job.device;
    const size_t count = accessible.sources.size();
    const of_dtype dtype = accessible.job.sources[0]->dtype();
    TensorRef merged = operand(accessible, 0, part);
    if (count == 1 && !operators_.then) return merged;
    const TensorRef result = output(accessible, part, dtype);
    for (size_t i = 1; i < count; ++i) {
      const bool is_last = i + 1 == count && !operators_.then;
      // Intermediates of half-precision values are float32, so that only the result is rounded.
      const TensorRef to =
          is_last ? result : scratch(Use::kSum, is_half(dtype) ? OF_FLOAT32 : dtype, device, part.size);
      call_into(operators_.name, *to, *operators_.by, merged, operand(accessible, i, part));
      merged = to;
    }
    if (operators_.then) call_into(operators_.name, *result, *operators_.then, merged, static_cast<int64_t>(count));
    return result;
  }

  const MergeOperators& operators_;
  const int64_t piece_;  // the most elements of a part
  std::vector<Scratch> scratch_;
};

int threads_for(int64_t bytes) {
  if (bytes < 2 * kBytesPerThread) return 1;  // without a look at the options
  return static_cast<int>(std::clamp<int64_t>(bytes / kBytesPerThread, 1, get_option("num_threads")));
}

}  // namespace

void run_jobs(const MergeOperators& operators, const std::vector<Job>& jobs) {
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
    for (const TensorRef& each : job.targets) each->mutable_data();  // makes shared memory unique before threads start
  const std::vector<AccessibleJob> accessible(jobs.begin(), jobs.end());

  const int64_t piece =
      std::min(longest, (has_streams ? kSubmittedBytes : kCachedBytes) / jobs[0].sources[0]->element_bytes());
  // The pieces of all jobs are interleaved, so that all devices with streams are busy.
  const int64_t rounds = (longest + piece - 1) / piece;
  const auto step = [&](Worker& worker, int64_t number) {
    const AccessibleJob& next = accessible[static_cast<size_t>(number) % accessible.size()];
    const int64_t start = number / static_cast<int64_t>(accessible.size()) * piece;
    const int64_t remaining = next.job.sources[0]->count() - start;
    if (remaining > 0) worker.run(next, {start, std::min(remaining, piece)});
  };
  join_streams(devices);
  std::atomic<int64_t> next{0};
  const int64_t count = rounds * static_cast<int64_t>(jobs.size());
  FirstFailure failure;
  failure.keep_failure_of([&] {
    run_on_threads(has_streams ? 1 : threads_for(bytes), [&] {
      Worker worker(operators, piece);
      try {
        for (int64_t number = next++; number < count; number = next++) step(worker, number);
      } catch (...) {
        next = count;  // stops the other threads
        throw;
      }
    });
  });
  // Also after a failure, because work submitted before it may still read the memory of other devices.
  failure.keep_failure_of([&] { join_streams(devices); });
  failure.rethrow();
}

}  // namespace oneflow::collective
