#include "launch/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace oneflow::launch {

namespace {

// How long a line may be before its start is shown without its end, which limits the memory that it takes.
constexpr size_t kLongest = 1 << 20;
// When the start of a line is shown on a terminal.
constexpr std::chrono::milliseconds kMoment{100};

bool is_same_file(int a, int b) {
  struct stat one {
  }, other{};
  return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Failure("cannot make the folder " + folder + ": " + error.message());
}

Descriptor open_file(const std::string& path) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.is_open()) fail_with(errno, "cannot write " + path);
  return file;
}

}  // namespace

Output::Target::Target(Loop& loop, int descriptor) : writer(loop, descriptor), is_terminal(isatty(descriptor) == 1) {}

Output::Output(Loop& loop, int ranks, bool has_tags, const std::string& folder) : is_exact_(ranks == 1 && !has_tags) {
  targets_.push_back(std::make_unique<Target>(loop, STDOUT_FILENO));
  if (!is_same_file(STDOUT_FILENO, STDERR_FILENO)) targets_.push_back(std::make_unique<Target>(loop, STDERR_FILENO));
  if (!folder.empty()) make_folder(folder);
  for (int rank = 0; rank < ranks; ++rank) {
    for (const auto& [target, suffix] : {std::pair(targets_.front().get(), ".out"), {targets_.back().get(), ".err"}}) {
      const std::string number = std::to_string(rank);
      lines_.push_back({has_tags ? "[" + number + "] " : "",
                        target,
                        folder.empty() ? Descriptor() : open_file(folder + "/rank-" + number + suffix),
                        {},
                        false,
                        {}});
    }
  }
}

void Output::break_line(Target& target, const Line* next) {
  if (target.open == nullptr || target.open == next) return;
  target.writer.write("\n");
  target.open->is_shown = false;
  target.open = nullptr;
}

void Output::show(Line& line, std::string_view bytes, bool is_complete) {
  Target& target = *line.target;
  break_line(target, &line);
  if (!line.is_shown) target.writer.write(line.tag);
  target.writer.write(bytes);
  line.is_shown = !is_complete;
  target.open = is_complete ? nullptr : &line;
}

void Output::write(int rank, Stream stream, std::string_view bytes) {
  Line& own = line(rank, stream);
  write_file(own, bytes);
  if (is_exact_) return own.target->writer.write(bytes);
  own.since = Clock::now();
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      own.start += bytes;
      if (own.start.size() > kLongest) show(own, std::exchange(own.start, {}), false);
      return;
    }
    // The tag is written once for what is shown in pieces.
    if (!own.start.empty()) show(own, std::exchange(own.start, {}), false);
    show(own, bytes.substr(0, end + 1), true);
    bytes.remove_prefix(end + 1);
  }
}

void Output::write_file(Line& line, std::string_view bytes) {
  while (line.file.is_open() && !bytes.empty()) {
    const ssize_t count = ::write(line.file.get(), bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR) {
      const int error = errno;
      line.file.close();
      say(std::string("oneflow-run: a file of --output cannot be written any more: ") + std::strerror(error));
    }
  }
}

void Output::finish(int rank) {
  if (is_exact_) return;
  for (const Stream stream : {Stream::out, Stream::err}) {
    Line& own = line(rank, stream);
    if (!own.start.empty() || own.is_shown) show(own, std::exchange(own.start, {}) + "\n", true);
  }
}

void Output::say(const std::string& text) {
  Target& target = *targets_.back();
  break_line(target, nullptr);
  target.writer.write(text + "\n");
}

bool Output::is_full() const { return targets_.front()->writer.is_full() || targets_.back()->writer.is_full(); }

bool Output::is_empty() const { return targets_.front()->writer.is_empty() && targets_.back()->writer.is_empty(); }

Deadline Output::next_started() const {
  Deadline next;
  for (const Line& line : lines_)
    if (line.target->is_terminal && !line.start.empty()) next = earlier(next, line.since + kMoment);
  return next;
}

void Output::show_started() {
  const auto now = Clock::now();
  for (Line& line : lines_)
    if (line.target->is_terminal && !line.start.empty() && line.since + kMoment <= now)
      show(line, std::exchange(line.start, {}), false);
}

}  // namespace oneflow::launch
