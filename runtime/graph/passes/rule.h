// Rules: calls that are replaced by others. The tables are generated from opdefs/rules/*.yaml.
#ifndef ONEFLOW_GRAPH_PASSES_RULE_H_
#define ONEFLOW_GRAPH_PASSES_RULE_H_

#include <functional>
#include <set>
#include <span>
#include <string>

#include "dispatch/program_body.h"
#include "dispatch/schema.h"
#include "graph/graph.h"

namespace oneflow::graph {

// An argument of a call on the left side: a variable, the result of an earlier call, a list of these, or else a
// literal.
struct PatternArgument {
  int variable = -1;
  int call = -1;
  std::span<const PatternArgument> items = {};
  of_value literal = {};
};

struct PatternCall {
  const char* op;
  std::span<const PatternArgument> arguments;  // of the signature, all of them
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

// A rule of the program that optimizes a graph: its left side was captured, its right side is a function.
struct CallerRule {
  std::string name;
  Ref<Graph> left;                  // its inputs are the variables
  std::set<std::string> constants;  // the names of those that must be constants
  // Gets tensors for the variables, of which those that are no constants stand for values, and returns one for the
  // result, or null if the rule does not apply. Throws an Error to end the optimization.
  std::function<TensorRef(std::span<const of_tensor>)> right;
  double error;
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_RULE_H_
