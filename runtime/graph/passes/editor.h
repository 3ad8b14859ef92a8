// A program that passes change.
#ifndef ONEFLOW_GRAPH_PASSES_EDITOR_H_
#define ONEFLOW_GRAPH_PASSES_EDITOR_H_

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "graph/bound_call.h"
#include "graph/graph.h"
#include "graph/recording.h"

namespace oneflow::graph {

// A program, with what passes ask about its values, and changes that keep it valid. Values keep their numbers; those of
// calls that were removed stay without a definition.
class Editor {
 public:
  explicit Editor(Program program);

  const Program& program() const { return program_; }
  // Returns the program without dead code, whose values are numbered in the order of their definitions.
  Program finished() const;

  // Returns the position of the call that defines a value; -1 for inputs and constants.
  int definition(ValueId value) const { return facts_[index(value)].definition; }
  // Returns the tensor of a constant; null for other values.
  const TensorRef& constant(ValueId value) const { return facts_[index(value)].constant; }
  // Returns how often calls and outputs need a value.
  int use_count(ValueId value) const { return facts_[index(value)].uses; }
  // Returns whether no call writes to the memory of a value.
  bool is_fixed(ValueId value) const { return !facts_[index(root_of(value))].is_written; }
  // Returns the value that a value is a view of, or may be; itself for others.
  ValueId root_of(ValueId value) const { return facts_[index(value)].root; }
  // Returns a value in the first run, as a tensor without memory.
  const Tensor& form_of(ValueId value) const { return *runs_[0].tensors[index(value)]; }

  // Computes new values from those of arguments. It gets the arguments of one run, in which constants have elements and
  // others stand for values, and returns tensors; a failure says that the values cannot be replaced.
  using Build = std::function<std::vector<TensorRef>(std::span<const of_value>)>;
  // Replaces the results of the call at `position` by what is built of `bindings`, and removes those of `matched`,
  // calls that come before it, and of itself that nothing needs any more. Returns whether it has: the new values must
  // have the dtypes and the shapes of the old ones in all runs, and must not share memory where the old ones do not.
  bool replace(int position, std::span<const Argument> bindings, std::span<const int> matched, const Build& build);
  // Replaces a value by another one that is defined before it, if nobody can see that both share memory.
  bool replace_value(ValueId old, ValueId by);
  // Makes a value of a call a constant. The call becomes dead code if it has no other results.
  void make_constant(ValueId value, TensorRef tensor);
  // Stores large constants of wider floating-point types as `dtype`; calls convert them back. Returns how many.
  int64_t narrow_constants(of_dtype dtype);
  // Removes calls that no output depends on, except those that write or draw numbers.
  void remove_unused();

 private:
  struct Fact {
    int definition = -1;
    int uses = 0;
    ValueId root = kNoValue;
    bool is_written = false;  // of roots: whether calls write to its memory
    bool escapes = false;     // of roots: whether an output has its memory
    bool is_shared = false;   // whether it is an input, whose memory the caller has
    TensorRef constant;
  };
  struct Splice;

  void find_facts();
  void run_inference();
  std::optional<Splice> record(std::span<const Argument> bindings, const Build& build);
  bool has_form(ValueId value, const Splice& splice, ValueId result) const;
  bool may_share(ValueId old, ValueId by) const;
  ValueId add_constant(TensorRef tensor, const std::string& name);
  void substitute(ValueId old, ValueId by);

  Program program_;
  std::vector<Fact> facts_;
  std::vector<Registers> runs_;  // with tensors without memory: what is inferred with samples of the named sizes
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_EDITOR_H_
