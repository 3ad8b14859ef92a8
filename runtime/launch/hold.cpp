#include "launch/hold.h"

#include <charconv>
#include <cstdio>
#include <iostream>
#include <string>

#include "launch/failure.h"
#include "launch/guard.h"
#include "launch/meeting.h"
#include "launch/variables.h"

namespace oneflow::launch {

void hold_job(int size) {
  Guard guard(size);
  const MeetingFolder folder(guard);
  const Variables common = variables_of_job(size, "file:" + folder.path(), make_secret(), 0, 0);
  for (int rank = 0; rank < size; ++rank) {
    std::string text;
    for (const std::string& variable : variables_of_rank(rank, rank, size, common, "")) text += variable + '\0';
    text += '\0';
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw Failure("cannot write standard output");
  }
  if (std::fflush(stdout) != 0) throw Failure("cannot write standard output");
  std::string line;
  for (int index = 0; index < size && std::getline(std::cin, line); ++index) {
    pid_t group = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), group);
    if (error != std::errc() || end != line.data() + line.size() || group <= 1)
      throw Failure("there is no process '" + line + "'");
    guard.set_group(index, group);
  }
  while (std::getline(std::cin, line)) {
  }
}

}  // namespace oneflow::launch
