#include "launch/dry_run.h"

#include "launch/remote_host.h"

namespace oneflow::launch {

std::string describe(const Options& options, const Placement& placement) {
  std::string text;
  for (const PlacedRanks& placed : placement.hosts) {
    const std::string count = std::to_string(placed.ranks.size());
    text += placed.host + ", " + count + (placed.ranks.size() == 1 ? " rank" : " ranks") +
            (placed.is_here ? ", this host" : ", by " + joined(remote_command(options, placed.host))) + ":\n";
    for (const RankPlan& rank : placed.ranks)
      text += "  rank " + std::to_string(rank.rank) + " of " + std::to_string(placement.size) + ": " +
              joined(rank.arguments) + "\n";
  }
  const std::string port = options.port != 0 ? std::to_string(options.port) : "PORT";
  const std::string address = options.address.empty() ? placement.hosts.front().host : options.address;
  text +=
      "the ranks meet at " + (placement.is_here() ? "file:FOLDER, a new one" : "tcp://" + address + ":" + port) + "\n";
  return text;
}

}  // namespace oneflow::launch
