// What the ranks write, as it reaches the user: whole lines, each with the rank that wrote it.
#ifndef ONEFLOW_LAUNCH_OUTPUT_H_
#define ONEFLOW_LAUNCH_OUTPUT_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launch/descriptor.h"
#include "launch/loop.h"
#include "launch/writer.h"

namespace oneflow::launch {

enum class Stream : uint8_t { out, err };

class Output {
 public:
  // `folder`: where each rank gets a file for each stream, too; empty: nowhere. Throws Failure if they cannot be made.
  Output(Loop& loop, int ranks, bool has_tags, const std::string& folder);

  // Takes bytes that a rank has written.
  void write(int rank, Stream stream, std::string_view bytes);
  // Completes the last lines of a rank that has ended.
  void finish(int rank);
  // Writes a line of the program itself, or of a remote shell, to standard error.
  void say(const std::string& text);

  // Returns whether nothing should be read from ranks, because so much waits for a slow reader.
  bool is_full() const;
  bool is_empty() const;
  // Returns the number of the error with which standard output failed; 0 if it has not.
  int error() const { return targets_.front()->writer.error(); }

  // On a terminal, the start of a line is shown after a moment, so that questions are seen: show_started() shows those
  // whose time has come, and next_started() returns when that is.
  Deadline next_started() const;
  void show_started();

 private:
  struct Target;
  // The line that a rank is writing to a stream.
  struct Line {
    std::string tag;
    Target* target;
    Descriptor file;
    std::string start;        // what is not shown yet
    bool is_shown = false;    // whether a part of it is
    Clock::time_point since;  // the last write
  };
  // Standard output or standard error. If both are the same file, there is one target for both, so that their lines
  // cannot mix.
  struct Target {
    Target(Loop& loop, int descriptor);
    Writer writer;
    const bool is_terminal;
    Line* open = nullptr;  // the line that ends what was written, if its own end is missing
  };

  Line& line(int rank, Stream stream) { return lines_[static_cast<size_t>(rank) * 2 + static_cast<size_t>(stream)]; }
  // Ends another line that is open.
  static void break_line(Target& target, const Line* next);
  static void show(Line& line, std::string_view bytes, bool is_complete);
  void write_file(Line& line, std::string_view bytes);

  const bool is_exact_;  // the bytes of a single rank pass as they are
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<Line> lines_;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_OUTPUT_H_
