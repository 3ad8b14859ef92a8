#include "parallel/collective_rule.h"

#include "dispatch/arguments.h"

namespace oneflow::collective {

MergeOperators merge_operators(const Call& call, const char* tensor, of_dtype dtype) {
  const Merge& merge = rule_of<CollectiveRule>(call.schema()).merges[static_cast<size_t>(match_variant(call))];
  const Operator& by = *OperatorName(merge.by);
  const bool is_too_complex = is_complex(dtype) && !by.schema().run_complex;
  if (is_too_complex || !accepts(merge.accepts, part_dtype(dtype))) {
    const int attribute = call.schema().match.argument;
    fail(OF_DTYPE_ERROR, "%s must be %s for %s '%s', got %s", tensor,
         is_too_complex ? "a real tensor" : dtype_set_words(merge.accepts), call.schema().arguments[attribute].name,
         std::string(call.string(attribute)).c_str(), dtype_name(dtype));
  }
  return {call.name, &by, merge.then ? &*OperatorName(merge.then) : nullptr};
}

}  // namespace oneflow::collective
