// What --dry-run prints.
#ifndef ONEFLOW_LAUNCH_DRY_RUN_H_
#define ONEFLOW_LAUNCH_DRY_RUN_H_

#include <string>

#include "launch/options.h"
#include "launch/placement.h"

namespace oneflow::launch {

// Lists what would be started where, and how other hosts are reached.
std::string describe(const Options& options, const Placement& placement);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_DRY_RUN_H_
