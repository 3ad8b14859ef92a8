// Rules: calls that are replaced by others. The tables are generated from opdefs/rules/*.yaml.
#ifndef ONEFLOW_GRAPH_PASSES_RULE_H_
#define ONEFLOW_GRAPH_PASSES_RULE_H_

#include <span>

#include "dispatch/program_body.h"
#include "dispatch/schema.h"

namespace oneflow::graph {

// An argument of a call on the left side: a variable, the result of an earlier call, or else a literal.
struct PatternArgument {
  int variable = -1;
  int call = -1;
  of_value literal = {};
};

struct PatternCall {
  const char* op;
  std::span<const PatternArgument> arguments;  // of the signature, all of them
  bool commutes = false;                       // whether its first two operands can be exchanged
};

struct Rule {
  const Schema* schema;  // its arguments are the variables
  std::span<const PatternCall>
      calls;                   // the left side; operands precede the calls that use them, the result is the last
  void (*body)(ProgramBody&);  // the right side, which fails if the rule does not apply
  uint32_t constants = 0;      // a bit for each variable that must be a constant
  double error = 0;            // the largest relative error; 0 for none
};

extern const std::span<const Rule> kRules;

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_RULE_H_
