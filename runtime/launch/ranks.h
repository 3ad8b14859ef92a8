// The ranks of a job that run on this host.
#ifndef ONEFLOW_LAUNCH_RANKS_H_
#define ONEFLOW_LAUNCH_RANKS_H_

#include <memory>
#include <string_view>
#include <vector>

#include "launch/guard.h"
#include "launch/host.h"
#include "launch/loop.h"
#include "launch/plan.h"
#include "launch/signals.h"
#include "launch/spawn.h"
#include "launch/writer.h"

namespace oneflow::launch {

class Ranks : public Host {
 public:
  Ranks(Loop& loop, Listener& listener, Guard& guard, const Signals& signals);
  // Kills what is left.
  ~Ranks() override;

  bool is_ready() const override { return true; }
  void start(const HostPlan& plan) override;
  void signal(int number) override;
  void children_ended() override;
  bool wants_input() const override;
  void input(std::string_view bytes) override;
  bool is_done() const override;
  Deadline deadline() const override { return is_done() ? std::nullopt : last_output_; }

 private:
  struct Rank {
    int number;
    Child child;
    std::unique_ptr<Writer> input;
    bool has_ended = false;
  };

  void listen_to(Rank& rank, Stream stream);
  // Passes on what a rank has written by now, at most some bytes; at the end of the stream closes it.
  void read(Rank& rank, Stream stream, size_t most);
  void finish(Rank& rank, const End& end);
  void close(Descriptor& descriptor);

  Loop& loop_;
  Listener& listener_;
  Guard& guard_;
  const Signals& signals_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  size_t running_ = 0;
  // When no more output of programs is waited for that ranks have left behind.
  Deadline last_output_;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_RANKS_H_
