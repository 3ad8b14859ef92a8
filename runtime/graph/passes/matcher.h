// Finds the left sides of rules in programs.
#ifndef ONEFLOW_GRAPH_PASSES_MATCHER_H_
#define ONEFLOW_GRAPH_PASSES_MATCHER_H_

#include <optional>
#include <span>
#include <vector>

#include "graph/passes/editor.h"
#include "graph/passes/rule.h"

namespace oneflow::graph {

// What a rule matches. All calls but the last have a result that no other call and no output needs.
struct Match {
  std::vector<int> calls;           // the calls of the left side, those of operands first
  std::vector<Argument> variables;  // what the variables stand for
};

// The left side of a rule.
class Pattern {
 public:
  // Of `variables`, which describe the arguments that they can stand for, those with a bit in `constants` must be
  // constants. Numbers in the program may differ slightly from literals unless the rule is exact.
  Pattern(std::span<const PatternCall> calls, std::span<const oneflow::Argument> variables, uint32_t constants,
          bool is_exact);

  // Returns the match whose last call is `call`, if there is one.
  std::optional<Match> find(const Editor& editor, int call) const;

 private:
  class Attempt;

  bool has_operands(const Editor& editor, const Node& last, uint32_t exchanged) const;
  // Returns the position in the program's call of an argument of a call of the pattern. `exchanged` has a bit for each
  // call that commutes: whether its operands are exchanged.
  size_t position(size_t call, size_t argument, uint32_t exchanged) const;

  const std::span<const PatternCall> calls_;
  const std::span<const oneflow::Argument> variables_;
  const uint32_t constants_;
  const double precision_;
  std::vector<const Operator*> ops_;  // of each call
  std::vector<size_t> commuting_;     // the calls whose operands can be exchanged
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_MATCHER_H_
