// One run of a job: its ranks are started, and end, together.
#ifndef ONEFLOW_LAUNCH_JOB_H_
#define ONEFLOW_LAUNCH_JOB_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launch/guard.h"
#include "launch/host.h"
#include "launch/meeting.h"
#include "launch/options.h"
#include "launch/output.h"
#include "launch/placement.h"
#include "launch/remote_host.h"
#include "launch/signals.h"

namespace oneflow::launch {

struct Result {
  int status = 0;              // of the first rank that failed, or of the failure of a host
  bool may_restart = false;    // it failed in a way that need not happen again
  std::optional<int> stopped;  // the signal by which the user ended it
};

class Job : public Listener {
 public:
  Job(const Options& options, const Placement& placement, int restart, Loop& loop, Output& output,
      const Signals& signals, Guard& guard);
  ~Job() override;

  // Runs until all ranks have ended and their output is written.
  Result run();

  void wrote(int rank, Stream stream, std::string_view bytes) override { output_.write(rank, stream, bytes); }
  void ended(int rank, const End& end) override;
  void host_failed(const std::string& text, int status) override;
  bool is_full() const override { return output_.is_full(); }

 private:
  struct Member {
    std::unique_ptr<Host> host;
    const PlacedRanks* placed;
    RemoteHost* remote;  // NULL: it is this one
    bool is_started = false;
  };

  // Runs a step; a Failure ends the job.
  template <class Step>
  void guarded(Step step);
  void connect();
  void start();
  // Returns the numeric address of the first host, at which the ranks meet.
  std::string meeting_address() const;
  HostPlan plan_of(const Member& member, const std::string& address, const std::string& meeting,
                   const std::string& secret) const;

  void run_once();
  void handle(int signal);
  void signal_all(int number);
  // Ends the job with an exit status, unless it is ending already.
  void fail(int status);
  void end_after(std::chrono::milliseconds grace);
  void kill_all();
  bool is_done() const;
  void read_input();
  std::chrono::milliseconds grace_or(double seconds) const;

  const Options& options_;
  const Placement& placement_;
  const int restart_;
  Loop& loop_;
  Output& output_;
  const Signals& signals_;
  Guard& guard_;
  std::optional<MeetingFolder> folder_;
  std::vector<Member> members_;

  Result result_;
  std::set<int> running_;  // ranks
  bool is_failing_ = false, is_flushing_ = false, has_input_ = true;
  Clock::time_point stopped_at_;
  Deadline kill_at_, give_up_at_;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_JOB_H_
