// Makes a link, and does what lines of the standard input say, for tests that are not written in C++. Its first line
// says how to enter the sides: "PID DESCRIPTOR DESCRIPTOR", where /proc/PID/fd/DESCRIPTOR is a network namespace and
// PID may be in another user namespace; or it says why there is no link. Each input line is "LOSS DELAY_US", the
// behaviour of both directions, or "cut", and is answered by an empty line. Ends at the end of the input.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "network/link.h"

using commnet::tests::Behaviour;
using commnet::tests::Link;
using commnet::tests::Side;

int main() {
  const Link link(7);
  if (!link.is_there()) {
    std::puts(link.why().c_str());
    return 1;
  }
  std::printf("%d %d %d\n", getpid(), link.descriptor(Side::kLeft), link.descriptor(Side::kRight));
  std::fflush(stdout);
  for (char line[256]; std::fgets(line, sizeof line, stdin);) {
    Behaviour behaviour;
    behaviour.is_cut = std::strcmp(line, "cut\n") == 0;
    if (!behaviour.is_cut && std::sscanf(line, "%lf %u", &behaviour.loss, &behaviour.delay_us) != 2) return 1;
    link.set(behaviour);
    std::puts("");
    std::fflush(stdout);
  }
}
