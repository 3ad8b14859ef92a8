// Another host, on which a remote shell runs this program as a node.
#ifndef ONEFLOW_LAUNCH_REMOTE_HOST_H_
#define ONEFLOW_LAUNCH_REMOTE_HOST_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launch/frames.h"
#include "launch/host.h"
#include "launch/options.h"
#include "launch/output.h"
#include "launch/signals.h"
#include "launch/spawn.h"
#include "launch/writer.h"

namespace oneflow::launch {

// Returns the command that runs this program on another host. It contains nothing that is secret.
std::vector<std::string> remote_command(const Options& options, const std::string& host);

class RemoteHost : public Host {
 public:
  // Runs the command. Throws Failure if there is no such program.
  RemoteHost(Loop& loop, Listener& listener, Output& output, const Signals& signals, std::string name,
             const std::vector<std::string>& command);
  // Closes the connection, which ends the ranks.
  ~RemoteHost() override;

  // Returns a port that was free there when it became ready.
  int port() const { return port_; }

  bool is_ready() const override { return port_ != 0; }
  void start(const HostPlan& plan) override;
  void signal(int number) override { send(Frame::signal, number, {}); }
  void children_ended() override;
  bool wants_input() const override { return wants_input_; }
  void input(std::string_view bytes) override;
  bool is_done() const override { return has_ended_ && !shell_.out.is_open(); }
  Deadline deadline() const override { return {}; }

 private:
  void send(Frame::Kind kind, int32_t number, std::string_view content);
  void read_frames();
  void read_messages();
  void read_greeting();
  void handle(const Frame& frame);
  void close_output();
  // Reports that the connection is lost, once its output and its process have ended.
  void note_loss();

  Loop& loop_;
  Listener& listener_;
  Output& output_;
  const std::string name_;
  Child shell_;
  std::optional<Writer> input_;
  std::string greeting_, message_;  // the lines that are not complete
  FrameReader frames_;
  int port_ = 0;
  std::set<int> running_;  // ranks
  bool is_started_ = false, wants_input_ = false, has_ended_ = false, has_failed_ = false;
  End end_{};
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_REMOTE_HOST_H_
