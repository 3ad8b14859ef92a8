#include "launch/placement.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "launch/failure.h"
#include "plugin/processors.h"

namespace oneflow::launch {

namespace {

// Returns the entry of a host, which may be named several times, and this one by several names.
PlacedRanks& entry_of(Placement& placement, const std::string& host) {
  const bool is_here = is_this_host(host);
  const auto found = std::ranges::find_if(
      placement.hosts, [&](const PlacedRanks& each) { return each.host == host || (is_here && each.is_here); });
  return found != placement.hosts.end() ? *found : placement.hosts.emplace_back(PlacedRanks{host, is_here, {}});
}

}  // namespace

Placement place(const Options& options) {
  const int room = std::transform_reduce(options.hosts.begin(), options.hosts.end(), 0, std::plus<>(),
                                         [](const Slots& slots) { return slots.count; });
  std::vector<RankPlan> ranks;
  for (const Program& program : options.programs) {
    const int alone = options.hosts.empty() ? cpu::usable_processors() : room;
    for (int left = program.ranks.value_or(options.programs.size() == 1 ? alone : 1); left > 0; --left)
      ranks.push_back({static_cast<int>(ranks.size()), Source::nothing, program.arguments});
  }
  Placement placement;
  placement.size = static_cast<int>(ranks.size());
  std::vector<Slots> hosts = options.hosts;
  if (hosts.empty()) hosts.push_back({"localhost", placement.size});
  auto slots = hosts.begin();
  for (RankPlan& rank : ranks) {
    while (slots != hosts.end() && slots->count == 0) ++slots;
    if (slots == hosts.end())
      throw Failure("the hosts have room for " + std::to_string(room) + " ranks, and the job has " +
                        std::to_string(placement.size),
                    kWrongUsage);
    --slots->count;
    entry_of(placement, slots->host).ranks.push_back(std::move(rank));
  }
  // A terminal gives input to the launcher's process group alone, and hosts have none of it: both need a relay.
  const bool is_relayed = !placement.hosts.front().is_here || isatty(STDIN_FILENO) == 1;
  placement.hosts.front().ranks.front().source = is_relayed ? Source::relayed : Source::inherited;
  return placement;
}

}  // namespace oneflow::launch
