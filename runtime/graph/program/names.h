// Names of the inputs, constants and outputs of a program.
#ifndef ONEFLOW_GRAPH_NAMES_H_
#define ONEFLOW_GRAPH_NAMES_H_

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace oneflow::graph {

// Gives names of which no two are equal.
class UniqueNames {
 public:
  // Returns `wanted` or, if that is taken, the name with the first number that makes another one: "constant.1".
  std::string take(const std::string& wanted) {
    std::string name = wanted;
    for (int* last = nullptr; !taken_.insert(name).second; name = wanted + "." + std::to_string(++*last))
      last = &last_[wanted];
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> last_;  // the last number that was added to a name
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_NAMES_H_
