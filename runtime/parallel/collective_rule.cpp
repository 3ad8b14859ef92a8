#include "parallel/collective_rule.h"

#include "dispatch/arguments.h"

namespace oneflow::collective {

MergeOperators merge_operators(const Call& call, const char* tensor, of_dtype dtype) {
  const Merge& merge = rule_of<CollectiveRule>(call.schema()).merges[static_cast<size_t>(match_variant(call))];
  const int attribute = call.schema().match.argument;
  if (!accepts(merge.accepts, dtype))
    fail(OF_DTYPE_ERROR, "%s must be %s for %s '%s', got %s", tensor, dtype_set_words(merge.accepts),
         call.schema().arguments[attribute].name, std::string(call.string(attribute)).c_str(), dtype_name(dtype));
  return {call.name, &*OperatorName(merge.by), merge.then ? &*OperatorName(merge.then) : nullptr};
}

}  // namespace oneflow::collective
