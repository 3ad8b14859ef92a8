// Rules of the program: where a graph makes the calls of the left side, it makes those of the right side instead.
#ifndef ONEFLOW_OBJECTS_RULE_H_
#define ONEFLOW_OBJECTS_RULE_H_

#include "base/ref.h"
#include "objects/function.h"
#include "objects/graph.h"

namespace oneflow::objects {

class Rule : public RefCounted<Rule> {
 public:
  using Shared = std::shared_ptr<const Function>;
  Rule(std::string name, Ref<Graph> left, Shared right, Shared when, std::vector<std::string> constants, double error);

  const std::string& name() const { return name_; }
  const Ref<Graph>& left() const { return left_; }
  const Shared& right() const { return right_; }
  const std::vector<std::string>& constants() const { return constants_; }
  double error() const { return error_; }

  // Returns the rule for the C API, which points into this object.
  of_rule describe(of_rule_function apply, void* user) const;
  // Returns what the right side computes of tensors for the variables, a new reference; NULL if the rule does not
  // apply.
  of_tensor apply(std::span<const of_tensor> inputs) const;

 private:
  friend class RefCounted<Rule>;
  void destroy() { delete this; }

  const std::string name_;
  const Ref<Graph> left_;
  const Shared right_, when_;
  const std::vector<std::string> constants_;
  std::vector<const char*> constant_names_;
  const double error_;
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_RULE_H_
