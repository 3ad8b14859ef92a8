#include "einsum/plan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/per_thread.h"
#include "einsum/rules.h"

namespace oneflow::einsum {

namespace {

// Everything that a plan depends on, as a row of integers: the operator, its arguments, and the shapes of its tensors.
using Key = std::vector<int64_t>;

void add_tensor(Key& key, const Tensor& tensor) {
  key.push_back(tensor.rank());
  key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
}

void add_text(Key& key, std::string_view text) {
  for (size_t at = 0; at < text.size(); at += sizeof(int64_t)) {
    int64_t part = 0;
    std::memcpy(&part, text.data() + at, std::min(sizeof part, text.size() - at));
    key.push_back(part);
  }
}

void fill_key(Key& key, const Call& call) {
  key.clear();
  key.push_back(reinterpret_cast<intptr_t>(&call.op));
  for (size_t i = 0; i < call.schema().arguments.size(); ++i) {
    const of_value& value = call.arguments[i];
    const int argument = static_cast<int>(i);
    key.push_back(int64_t{value.kind} << 32 | value.count);
    switch (value.kind) {
      case OF_VALUE_TENSOR:
        add_tensor(key, call.tensor(argument));
        break;
      case OF_VALUE_TENSOR_LIST:
        for (const of_tensor tensor : call.tensors(argument)) add_tensor(key, *to_tensor(tensor));
        break;
      case OF_VALUE_STRING:
        add_text(key, call.string(argument));
        break;
      case OF_VALUE_INT_LIST:
        key.insert(key.end(), call.integers(argument).begin(), call.integers(argument).end());
        break;
      case OF_VALUE_INT:
        key.push_back(call.integer(argument));
        break;
      default:
        break;
    }
  }
}

uint64_t hash(const Key& key) {
  uint64_t state = key.size();
  for (const int64_t part : key) state = (state ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15u + (state >> 29);
  return state ^ state >> 32;
}

std::shared_ptr<const Plan> make_plan(const Call& call, std::span<const Tensor* const> operands, OperandNames names) {
  auto plan = std::make_shared<Plan>();
  plan->equation = equation_of(call, operands);
  const Equation& equation = plan->equation;
  std::vector<Sizes> shapes;
  for (const Tensor* tensor : operands) shapes.push_back(tensor->sizes());
  const std::vector<int64_t> sizes = label_sizes(equation, shapes, names);
  plan->shape.resize(static_cast<int>(equation.output.size()));
  for (size_t d = 0; d < equation.output.size(); ++d)
    plan->shape[static_cast<int>(d)] = sizes[static_cast<size_t>(equation.output[d])];
  // One of size 0 in the result leaves no element to compute.
  plan->sums_nothing = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();

  // Labels of size 1 cost nothing and are not carried along.
  const auto label_set = [&](const Labels& labels, Sizes own_sizes) {
    LabelSet set;
    for (size_t d = 0; d < labels.size(); ++d)
      if (own_sizes[d] != 1) set.set(static_cast<size_t>(labels[d]));
    return set;
  };
  std::vector<LabelSet> sets;
  for (size_t i = 0; i < operands.size(); ++i) sets.push_back(label_set(equation.operands[i], shapes[i]));
  const LabelSet output = label_set(equation.output, plan->shape);
  plan->path = find_path(sets, output, sizes);
  // Of two operands, multiply_into() sums what only one has before the product.
  plan->has_intermediates = sets.size() > 2 || (sets.size() == 2 && ((sets[0] ^ sets[1]) & ~output).any());
  return plan;
}

// A plan lies where its key's hash says; another key of the same place takes it over. Plans of equations of unusual
// length are not kept.
class Cache {
 public:
  void retire() noexcept {}

  std::shared_ptr<const Plan> find_or_make(const Call& call, std::span<const Tensor* const> operands,
                                           OperandNames names) {
    fill_key(wanted_, call);
    if (wanted_.size() > kLongestKey) return make_plan(call, operands, names);
    Entry& entry = entries_[hash(wanted_) % kEntries];
    if (!entry.plan || entry.key != wanted_) {
      // What may fail comes first: an entry never has the key of one plan and the steps of another.
      std::shared_ptr<const Plan> plan = make_plan(call, operands, names);
      entry.key.reserve(wanted_.size());
      entry.key = wanted_;
      entry.plan = std::move(plan);
    }
    return entry.plan;
  }

 private:
  static constexpr size_t kEntries = 256, kLongestKey = 1 << 14;
  struct Entry {
    Key key;
    std::shared_ptr<const Plan> plan;
  };
  std::array<Entry, kEntries> entries_;
  Key wanted_;
};

}  // namespace

std::shared_ptr<const Plan> plan_for(const Call& call, std::span<const Tensor* const> operands, OperandNames names) {
  Cache* cache = PerThread<Cache>::get();
  return cache ? cache->find_or_make(call, operands, names) : make_plan(call, operands, names);
}

}  // namespace oneflow::einsum
