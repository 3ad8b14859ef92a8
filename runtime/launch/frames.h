// What the launcher and the nodes on other hosts send each other through the pipes of the remote shell.
//
// A node first writes a line with its version and a free port; before that, the remote shell may write whatever the
// start files of its user print. All that follows is frames.
#ifndef ONEFLOW_LAUNCH_FRAMES_H_
#define ONEFLOW_LAUNCH_FRAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oneflow::launch {

// How the first line of a node begins.
constexpr std::string_view kGreeting = "oneflow-run node ";

struct Frame {
  enum Kind : uint8_t {
    // To a node: its HostPlan, a signal for the ranks (the number), bytes for rank 0 (none: the end).
    plan = 1,
    signal,
    input,
    // From a node: what a rank (the number) has written to a stream, how it has ended, a failure of the node (an exit
    // status), and that rank 0 takes more input. So no input that it does not read is before a signal.
    out,
    err,
    ended,
    failed,
    wants_input,
  } kind;
  int32_t number;
  std::string content;
};

std::string encode(Frame::Kind kind, int32_t number, std::string_view content);

// Finds frames in the bytes that arrive.
class FrameReader {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  // Returns the next frame, if it is complete. Throws Failure if the bytes are no frame.
  std::optional<Frame> next();

 private:
  std::string bytes_;
  size_t read_ = 0;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_FRAMES_H_
