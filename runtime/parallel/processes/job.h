// The job that this process takes part in.
#ifndef ONEFLOW_PARALLEL_PROCESSES_JOB_H_
#define ONEFLOW_PARALLEL_PROCESSES_JOB_H_

#include <memory>

#include "parallel/processes/engine.h"
#include "parallel/processes/environment.h"
#include "parallel/processes/group.h"

namespace oneflow::processes {

class Job {
 public:
  // Returns the job. The first call joins the one that the environment describes; without one, this process is a job of
  // its own. Throws CommunicationError in a process that was forked from a rank of several, and after the job was left.
  static std::shared_ptr<Job> current();
  // Joins a job. Throws InvalidArgument if there is one already.
  static void join(const Membership& membership, Clock::duration timeout);
  // Leaves the job, if there is one.
  static void leave();
  static bool is_joined();

  Job(const Membership& membership, Clock::duration timeout);

  const Membership& membership() const { return membership_; }
  uint32_t rank() const { return membership_.rank; }
  const Group& world() const { return world_; }
  // Returns the group of a text, of which all ranks are in the job; the world for an empty one.
  const Group& group(std::string_view text) const;
  // Throws InvalidArgument unless this process is a member, and returns its position.
  uint32_t position_in(const Group& group) const;
  // Not for a job of one process.
  Engine& engine() const { return *engine_; }

  // Waits until all members of a group do.
  void barrier(const Group& group);

 private:
  const Membership membership_;
  const Group& world_;
  std::unique_ptr<Engine> engine_;
};

// For how long a rank waits for others, unless it says it.
constexpr Clock::duration kDefaultTimeout = std::chrono::minutes(10);

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_JOB_H_
