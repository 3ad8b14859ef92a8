// What a job knows of a host, be it this one or another.
#ifndef ONEFLOW_LAUNCH_HOST_H_
#define ONEFLOW_LAUNCH_HOST_H_

#include <string>
#include <string_view>

#include "launch/loop.h"
#include "launch/output.h"
#include "launch/plan.h"

namespace oneflow::launch {

// Gets to know what happens to ranks.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void wrote(int rank, Stream stream, std::string_view bytes) = 0;
  // Called once for each rank, after its output.
  virtual void ended(int rank, const End& end) = 0;
  // The host cannot start its ranks, or they are lost.
  virtual void host_failed(const std::string& text, int status) = 0;
  // Returns whether nothing should be read at present.
  virtual bool is_full() const = 0;
};

class Host {
 public:
  virtual ~Host() = default;
  // Returns whether ranks can be started.
  virtual bool is_ready() const = 0;
  virtual void start(const HostPlan& plan) = 0;
  // Sends a signal to all ranks, and to what they have started.
  virtual void signal(int number) = 0;
  // Looks for children that have ended.
  virtual void children_ended() = 0;
  // Standard input of rank 0, if it runs here and is relayed: whether more is wanted, and more; nothing: its end.
  virtual bool wants_input() const = 0;
  virtual void input(std::string_view bytes) = 0;
  // Returns whether all ranks have ended, and all their output was passed on.
  virtual bool is_done() const = 0;
  // Returns when is_done() may change without an event.
  virtual Deadline deadline() const = 0;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_HOST_H_
