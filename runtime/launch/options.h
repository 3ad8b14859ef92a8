// The command line of oneflow-run.
#ifndef ONEFLOW_LAUNCH_OPTIONS_H_
#define ONEFLOW_LAUNCH_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "launch/hosts.h"

namespace oneflow::launch {

// A program of the job: how many ranks run it, and its command line.
struct Program {
  std::optional<int> ranks;
  std::vector<std::string> arguments;
};

struct Options {
  enum Mode { run, dry_run, help, version, node, hold } mode = run;
  std::vector<Program> programs;

  std::optional<bool> has_tags;
  std::string output_folder;
  int threads = 0;                // of each rank; 0: shared out
  std::optional<double> grace_s;  // between a signal that ends ranks, and SIGKILL
  int restarts = 0;
  int parent = 0;   // the process with which the job ends, if it is killed; 0: none
  int report = -1;  // the descriptor that is told the first rank that fails: "2 was killed by ..."; -1: standard error

  std::vector<Slots> hosts;  // empty: this one
  std::vector<std::string> remote_shell{"ssh", "-o", "BatchMode=yes"};
  std::string remote_program;  // empty: the path of this one
  std::string address;         // empty: found out
  int port = 0;                // 0: one that is free
  std::vector<std::string> exported;
};

// Throws Failure if the command line is wrong.
Options read_options(int count, char** arguments);

// What --help prints.
std::string help_text();

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_OPTIONS_H_
