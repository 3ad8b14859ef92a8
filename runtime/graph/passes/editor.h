// A program that passes change.
#ifndef ONEFLOW_GRAPH_PASSES_EDITOR_H_
#define ONEFLOW_GRAPH_PASSES_EDITOR_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "graph/capture/recording.h"
#include "graph/program/bound_call.h"
#include "graph/program/program.h"

namespace oneflow::graph {

// Returns whether an error only says that a change cannot be made.
inline bool is_refusal(const Error& error) {
  return error.status() != OF_OUT_OF_MEMORY && error.status() != OF_INTERNAL_ERROR && error.status() != OF_INTERRUPTED;
}

// A program, with what passes ask about its values, and changes that keep it valid. A call has a number, which stays
// the same as long as the call is there; the order of the calls is that of first() and next(). Values keep their
// numbers; those of calls that were removed stay without a definition.
//
// A change takes as long as what it changes is large, not the program.
class Editor {
 public:
  explicit Editor(Program program);

  // Returns the program without dead code, whose values are numbered in the order of their definitions.
  Program finished() const;

  // Return the first call, and the one after a call; -1 if there is none.
  int first() const { return next_[kEnds]; }
  int next(int call) const { return next_[link(call)]; }
  const Node& node(int call) const { return program_.nodes[index(call)]; }
  int64_t call_count() const { return call_count_; }
  size_t value_count() const { return program_.values.size(); }

  // Returns the call that defines a value; -1 for inputs and constants.
  int definition(ValueId value) const { return facts_[index(value)].definition; }
  // Returns the tensor of a constant; null for other values.
  const TensorRef& constant(ValueId value) const;
  // Returns how often calls and outputs need a value.
  int use_count(ValueId value) const { return facts_[index(value)].uses; }
  // Returns whether no call writes to the memory of a value.
  bool is_fixed(ValueId value) const { return facts_[index(root_of(value))].memory_writes == 0; }
  // Returns the value that a value is a view of, or may be; itself for others.
  ValueId root_of(ValueId value) const { return facts_[index(value)].root; }
  // Returns a value in the first run, as a tensor without memory.
  const Tensor& form_of(ValueId value) const { return *runs_[0].tensors[index(value)]; }

  // Computes new values from those of arguments. It gets the arguments of one run, in which constants have elements and
  // others stand for values, and returns tensors; a failure says that the values cannot be replaced.
  using Build = std::function<std::vector<TensorRef>(std::span<const of_value>)>;
  // Replaces the results of a call by what is built of `bindings`, and removes those of `matched`, calls that come
  // before it, each before those that need it, and of itself that nothing needs any more. Returns whether it has: the
  // new values must have the dtypes and the shapes of the old ones in all runs, and must not share memory where the old
  // ones do not. With `only_finite`, constants that it computes must be finite, too.
  bool replace(int call, std::span<const Argument> bindings, std::span<const int> matched, const Build& build,
               bool only_finite = false);
  // Replaces a value by another one that is defined before it, if nobody can see that both share memory.
  bool replace_value(ValueId old, ValueId by);
  // Makes a value of a call a constant. The call becomes dead code if it has no other results.
  void make_constant(ValueId value, TensorRef tensor);
  // Stores large constants of wider floating-point types as `dtype`; calls convert them back. Returns how many.
  int64_t narrow_constants(of_dtype dtype);
  // Removes calls that no output depends on, except those that write or draw numbers. Calls get new numbers.
  void remove_unused();

 private:
  struct Fact {
    int definition = -1;
    int constant = -1;  // its position among the constants of the program
    int uses = 0;
    ValueId root = kNoValue;
    bool is_shared = false;  // whether it is an input, whose memory the caller has
    int writes = 0;          // how often calls write to it
    // Of roots: how often calls write to its memory, and how many outputs have it.
    int memory_writes = 0, memory_outputs = 0;
    std::vector<int> users;       // the calls that need it, and some that have needed it
    std::vector<size_t> outputs;  // the positions of the outputs that it is
    std::vector<ValueId> sized;   // the values whose sizes follow from its sizes
    bool is_defined() const { return definition >= 0 || constant >= 0 || is_shared; }
  };
  struct Splice;

  // The calls are a ring, with one more place between the last one and the first one.
  static constexpr size_t kEnds = 0;
  static size_t link(int call) { return static_cast<size_t>(call + 1); }

  void append_calls(std::vector<Node>& calls) const;
  void find_facts();
  void run_inference();
  std::optional<Splice> record(std::span<const Argument> bindings, const Build& build);
  bool has_form(ValueId value, const Splice& splice, ValueId result) const;
  bool may_share(ValueId old, ValueId by) const;
  bool has_finite_constants(const Splice& splice) const;
  std::string name_for(const Tensor& tensor, std::span<const Argument> bindings) const;
  ValueId add_value(Value value);
  ValueId add_constant(TensorRef tensor, const std::string& name);
  void drop_unused_constant(ValueId value);
  void substitute(ValueId old, ValueId by);
  void set_root(ValueId value, ValueId root);
  // Returns the values that a call defines and that share the memory of an operand, or may.
  std::vector<ValueId> aliases(int call, ValueId operand) const;
  // Adds a call before another one, which is there already.
  int insert(Node node, int before);
  void remove(int call);
  // Take note of what a call needs and writes to, or of its end, and of what it defines.
  void count(int call, int change);
  void define_results(int call);
  void undefine_results(int call);

  Program program_;  // whose calls are in the order of their numbers, with empty ones among them
  std::vector<int> next_, previous_;
  int64_t call_count_ = 0;
  std::vector<Fact> facts_;
  std::unordered_map<const Tensor*, ValueId> constants_;
  std::vector<Registers> runs_;  // with tensors without memory: what is inferred with samples of the named sizes
};

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_PASSES_EDITOR_H_
