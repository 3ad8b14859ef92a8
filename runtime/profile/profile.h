// A profile: what a recording says about each call.
#ifndef ONEFLOW_PROFILE_PROFILE_H_
#define ONEFLOW_PROFILE_PROFILE_H_

#include <string>
#include <vector>

#include "profile/recorder.h"

namespace oneflow::profile {

// A call. Times are in nanoseconds.
struct Entry {
  const Operator* op;
  const char* caller;  // the operator that the user called
  of_device device;
  int thread;
  int64_t parent = -1;  // the position of the call whose body made this call; -1: there is none
  int64_t start;        // since the recording began
  int64_t host_time = 0;
  int64_t self_time = 0;      // the part of it outside of calls of the body
  int64_t device_start = -1;  // like `start`, on an asynchronous device; -1: unknown
  int64_t device_time = -1;
  uint64_t memory = 0;    // bytes allocated
  double operations = 0;  // of contractions
  uint64_t bytes = 0;     // of operands and results
  std::vector<TensorNote> operands, results;
  bool failed = false;

  // Returns the time that the work took: on the device if that is known.
  int64_t work_time() const { return device_time >= 0 ? device_time : host_time; }
};

// Returns the calls of a recording that has ended, thread by thread in the order of their beginnings. Calls that have
// not returned are left out. Frees the marks on devices, so that there are no device times the next time.
std::vector<Entry> read_entries(const Recorder& recorder);

// Returns a table with a line per operator; see of_profile_table().
std::string format_table(const std::vector<Entry>& entries);

// Returns the trace in the JSON format of Chrome; see of_profile_trace().
std::string format_trace(const std::vector<Entry>& entries);

}  // namespace oneflow::profile

#endif  // ONEFLOW_PROFILE_PROFILE_H_
