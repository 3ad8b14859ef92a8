#include "launch/node.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "launch/addresses.h"
#include "launch/frames.h"
#include "launch/ranks.h"
#include "launch/signals.h"

namespace oneflow::launch {

namespace {

class Node : public Listener {
 public:
  Node() : output_(loop_, STDOUT_FILENO) {
    loop_.add(
        STDIN_FILENO, [this]() -> short { return has_launcher_ ? POLLIN : 0; }, [this] { read_launcher(); });
    loop_.add(
        signals_.descriptor(), []() -> short { return POLLIN; }, [this] { read_signals(); });
    output_.write(std::string(kGreeting) + ONEFLOW_VERSION " " + std::to_string(free_port()) + "\n");
  }

  void run() {
    while (!is_done()) {
      if (kill_at_ && *kill_at_ <= Clock::now()) {
        kill_at_.reset();
        if (ranks_) ranks_->signal(SIGKILL);
      }
      if (is_input_due_ && ranks_->wants_input()) {
        is_input_due_ = false;
        output_.write(encode(Frame::wants_input, 0, {}));
      }
      loop_.run_once(earlier(kill_at_, ranks_ ? ranks_->deadline() : std::nullopt));
    }
  }

  // Listener:
  void wrote(int rank, Stream stream, std::string_view bytes) override {
    output_.write(encode(stream == Stream::out ? Frame::out : Frame::err, rank, bytes));
  }
  void ended(int rank, const End& end) override {
    const std::string text =
        std::to_string(end.kind) + ' ' + std::to_string(end.value) + ' ' + std::to_string(end.process);
    output_.write(encode(Frame::ended, rank, text));
  }
  void host_failed(const std::string& text, int status) override {
    output_.write(encode(Frame::failed, status, text));
    end_ranks();
  }
  bool is_full() const override { return output_.is_full(); }

 private:
  // The launcher is told everything, unless it has gone.
  bool is_done() const {
    const bool is_told = output_.is_empty() || !has_launcher_;
    return is_told && (ranks_ ? ranks_->is_done() : !has_launcher_ || has_failed_);
  }

  void read_launcher() {
    char bytes[1 << 16];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) {
      has_launcher_ = false;
      return end_ranks();
    }
    frames_.add({bytes, static_cast<size_t>(std::max<ssize_t>(count, 0))});
    while (const std::optional<Frame> frame = frames_.next()) handle(*frame);
  }

  void handle(const Frame& frame) {
    if (frame.kind == Frame::plan && !ranks_) return start(decode(frame.content));
    if (!ranks_) return;
    if (frame.kind == Frame::signal) ranks_->signal(frame.number);
    if (frame.kind != Frame::input) return;
    ranks_->input(frame.content);
    is_input_due_ = true;
  }

  void start(const HostPlan& plan) {
    grace_ = std::chrono::milliseconds(plan.grace_ms);
    try {
      if (chdir(plan.folder.c_str()) != 0) fail_with(errno, "cannot enter the folder " + plan.folder);
      guard_.emplace(static_cast<int>(plan.ranks.size()));
      ranks_.emplace(loop_, *this, *guard_, signals_);
      ranks_->start(plan);
      is_input_due_ = true;
    } catch (const Failure& failure) {
      has_failed_ = true;
      host_failed(failure.what(), failure.status());
    }
  }

  void read_signals() {
    for (const int signal : signals_.read()) {
      if (signal == SIGCHLD && ranks_) ranks_->children_ended();
      if (is_ending(signal)) end_ranks();
    }
  }

  void end_ranks() {
    if (!ranks_ || kill_at_) return;
    ranks_->signal(SIGTERM);
    kill_at_ = Clock::now() + grace_;
  }

  const Signals signals_;
  Loop loop_;
  Writer output_;
  FrameReader frames_;
  bool has_launcher_ = true, has_failed_ = false;
  bool is_input_due_ = false;  // the launcher waits until it may send more
  std::chrono::milliseconds grace_{0};
  Deadline kill_at_;
  std::optional<Guard> guard_;
  std::optional<Ranks> ranks_;
};

}  // namespace

int run_node() {
  Node().run();
  return 0;
}

}  // namespace oneflow::launch
