// Names that are taken one after the other.
#ifndef ONEFLOW_GRAPH_FREE_NAMES_H_
#define ONEFLOW_GRAPH_FREE_NAMES_H_

#include <map>
#include <set>
#include <string>

namespace oneflow::graph {

class FreeNames {
 public:
  // Returns a name that was not taken before: `wanted`, or with a number.
  std::string take(const std::string& wanted) {
    int& next = next_[wanted];
    while (true) {
      std::string name = next == 0 ? wanted : wanted + "." + std::to_string(next);
      ++next;
      if (taken_.insert(name).second) return name;
    }
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_;  // the number from which on a name may be free; 0: without one
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_FREE_NAMES_H_
