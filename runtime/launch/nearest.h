// Suggestions for names that are not known.
#ifndef ONEFLOW_LAUNCH_NEAREST_H_
#define ONEFLOW_LAUNCH_NEAREST_H_

#include <string>
#include <vector>

namespace oneflow::launch {

// Returns the name that the fewest changed letters make of a text; empty if that would change most of it.
std::string nearest(const std::string& text, const std::vector<std::string>& names);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_NEAREST_H_
