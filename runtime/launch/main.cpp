// oneflow-run: starts the ranks of a job on this host and others, and ends them together. See docs/oneflow-run.md.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "launch/dry_run.h"
#include "launch/failure.h"
#include "launch/guard.h"
#include "launch/hold.h"
#include "launch/job.h"
#include "launch/node.h"
#include "launch/options.h"
#include "launch/output.h"
#include "launch/placement.h"
#include "launch/signals.h"
#include "launch/spawn.h"

namespace oneflow::launch {
namespace {

// Descriptors of a rank, for its pipes and files, and those of the program.
constexpr size_t kPerRank = 5, kOwn = 64;

// Makes sure that no file gets the number of a standard stream that is closed.
void open_standard_streams() {
  for (int number = 0; number <= 2; ++number)
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", O_RDWR);
}

int run_jobs(const Options& options) {
  const Placement placement = place(options);
  if (options.mode == Options::dry_run) {
    std::fputs(describe(options, placement).c_str(), stdout);
    return 0;
  }
  if (options.parent != 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != options.parent) return 128 + SIGTERM;
  }
  // The ranks do not inherit it, so that its reader sees when this program ends.
  if (options.report >= 0 && fcntl(options.report, F_SETFD, FD_CLOEXEC) != 0)
    fail_with(errno, "--report: descriptor " + std::to_string(options.report));
  allow_descriptors(static_cast<size_t>(placement.size) * kPerRank + kOwn);
  Guard guard(placement.size);
  const Signals signals;
  Loop loop;
  Output output(loop, placement.size, options.has_tags.value_or(placement.size > 1), options.output_folder);
  Result result;
  for (int restart = 0; restart <= options.restarts; ++restart) {
    if (restart > 0)
      output.say("oneflow-run: the job is started again: restart " + std::to_string(restart) + " of " +
                 std::to_string(options.restarts));
    result = Job(options, placement, restart, loop, output, signals, guard).run();
    if (!result.may_restart || result.stopped) break;
  }
  if (result.stopped && result.status == 128 + *result.stopped) return -*result.stopped;
  return result.status;
}

int run(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  switch (options.mode) {
    case Options::help:
      std::fputs(help_text().c_str(), stdout);
      return 0;
    case Options::version:
      std::puts("oneflow-run " ONEFLOW_VERSION);
      return 0;
    case Options::node:
      return run_node();
    case Options::hold:
      hold_job(options.programs.front().ranks.value_or(1));
      return 0;
    default:
      return run_jobs(options);
  }
}

}  // namespace
}  // namespace oneflow::launch

int main(int count, char** arguments) {
  using namespace oneflow::launch;
  open_standard_streams();
  try {
    const int status = run(count, arguments);
    if (status >= 0) return status;
    // A shell ends its script only if it sees that the program was interrupted.
    end_by(-status);
    return 128 - status;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "oneflow-run: %s\n", failure.what());
    return failure.status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "oneflow-run: %s\n", error.what());
    return 1;
  }
}
