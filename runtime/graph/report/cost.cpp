#include "graph/report/cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/characters.h"
#include "base/columns.h"
#include "base/error.h"
#include "dispatch/dimension_map.h"
#include "dispatch/layers.h"
#include "graph/program/bound_call.h"
#include "graph/program/lifetimes.h"

namespace oneflow::graph {

namespace {

std::vector<int64_t> values_of(const Program& program, std::span<const of_size_value> given) {
  std::vector<int64_t> values(program.sizes.size(), -1);
  for (const of_size_value& each : given) {
    const auto has_name = [&](const NamedSize& size) { return size.name == each.name; };
    const auto found = std::find_if(program.sizes.begin(), program.sizes.end(), has_name);
    const std::string name = printable(each.name);
    if (found == program.sizes.end()) fail(OF_INVALID_ARGUMENT, "the graph has no size '%s'", name.c_str());
    if (!found->allows(each.value))
      fail(OF_SHAPE_ERROR, "'%s' must be %s, got %ld", name.c_str(), found->words().c_str(), each.value);
    int64_t& value = values[static_cast<size_t>(found - program.sizes.begin())];
    if (value >= 0) fail(OF_INVALID_ARGUMENT, "the size '%s' is given twice", name.c_str());
    value = each.value;
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0) fail(OF_INVALID_ARGUMENT, "the size '%s' is missing", program.sizes[i].name.c_str());
  return values;
}

uint64_t bytes_of(const Tensor& tensor) { return static_cast<uint64_t>(count_bytes(tensor.sizes(), tensor.dtype())); }

// The memory that values have during a run. Views share that of the values that they show.
class Memory {
 public:
  explicit Memory(const Program& program) : roots_(program.values.size(), kNoValue), blocks_(program.values.size()) {}

  // Gives a value memory of its own. That of inputs and constants does not count.
  void add(ValueId value, uint64_t bytes) {
    roots_[index(value)] = value;
    blocks_[index(value)] = {bytes, 1};
    live_ += bytes;
    peak_ = std::max(peak_, live_);
  }
  // Makes a value share the memory of another one.
  void share(ValueId value, ValueId with) {
    roots_[index(value)] = roots_[index(with)];
    ++block_of(value).values;
  }
  // Gives a value the memory of another one of the same size, if nothing else has it; returns whether it does.
  bool take(ValueId value, ValueId from) {
    Block& block = block_of(from);
    if (block.values != 1 || block.bytes == 0) return false;
    share(value, from);
    return true;
  }
  void release(ValueId value) {
    Block& block = block_of(value);
    if (--block.values > 0) return;
    live_ -= block.bytes;
    block.bytes = 0;
  }
  uint64_t peak() const { return peak_; }

 private:
  struct Block {
    uint64_t bytes = 0;
    int values = 0;  // that have the memory
  };
  Block& block_of(ValueId value) { return blocks_[index(roots_[index(value)])]; }

  std::vector<ValueId> roots_;
  std::vector<Block> blocks_;
  uint64_t live_ = 0, peak_ = 0;
};

// Returns whether each element of the results follows from those of the operands at the same index, so that they can
// have the memory of an operand.
bool is_pointwise(const Operator& op, std::span<const of_value> arguments) {
  const std::vector<DimensionLink> links = dimension_map(op, arguments).links;
  return std::all_of(links.begin(), links.end(), [](const DimensionLink& link) {
    return link.relation == Relation::kSame || link.relation == Relation::kBroadcast;
  });
}

// Goes through a program without computing elements.
class Walk {
 public:
  Walk(const Program& program, std::vector<int64_t> sizes) : program_(program), lifetimes_(program), memory_(program) {
    registers_.tensors.resize(program.values.size());
    registers_.named_sizes = std::move(sizes);
  }

  Cost run() {
    Cost cost;
    const OpenLayers none(0);
    for (const Input& input : program_.inputs) {
      const Value& value = program_.values[index(input.value)];
      Shape sizes;
      for (const SizeExpression& size : value.sizes) sizes.push_back(registers_.value_of(size));
      define(input.value, Tensor::without_memory(sizes, value.dtype, value.device));
      memory_.add(input.value, 0);
    }
    for (const Constant& constant : program_.constants) {
      cost.constant_bytes += bytes_of(*constant.tensor);
      define(constant.value, Tensor::without_memory(*constant.tensor));
      memory_.add(constant.value, 0);
    }
    std::map<const Operator*, OperatorCost> operators;
    for (size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      OperatorCost& of_operator = operators.try_emplace(node.op, OperatorCost{node.op}).first->second;
      const CallWork work = call(i);
      ++of_operator.calls;
      of_operator.work += work;
      cost.total += work;
    }
    for (const auto& [op, each] : operators) cost.operators.push_back(each);
    cost.peak_bytes = memory_.peak();
    return cost;
  }

 private:
  void define(ValueId value, TensorRef tensor) { registers_.tensors[index(value)] = std::move(tensor); }

  CallWork call(size_t number) {
    try {
      return call_node(program_.nodes[number], lifetimes_.steps[number]);
    } catch (const Error& error) {
      if (error.is_complete()) throw;
      const char* name = program_.nodes[number].op->schema().function_name;
      throw Error(error.status(), format_text("call %zu, %s: ", number, name) + error.text());
    }
  }

  CallWork call_node(Node node, const Lifetimes::Step& step) {
    counter_.take();  // of what is_pointwise() has inferred
    std::vector<TensorRef> results = infer(node, bound_, registers_);
    const CallWork work = counter_.take();
    if (results.size() != node.results.size())
      fail(OF_SHAPE_ERROR, "it has %zu results, not %zu", results.size(), node.results.size());
    for (size_t i = 0; i < results.size() && !node.gives_results; ++i) add_result(node, i, results[i], step);
    for (const ValueId value : step.released) {
      memory_.release(value);
      define(value, {});
    }
    return work;
  }

  void add_result(const Node& node, size_t number, TensorRef& result, const Lifetimes::Step& step) {
    const ValueId value = node.results[number];
    if (registers_.tensors[index(value)]) return;  // the call returns an operand as it is
    if (const ValueId shared = aliased_operand(node, number); shared != kNoValue)
      memory_.share(value, shared);
    else if (step.donated == kNoValue || !is_pointwise(*node.op, bound_.arguments()) ||
             !memory_.take(value, step.donated))
      memory_.add(value, bytes_of(*result));
    define(value, std::move(result));
  }

  const Program& program_;
  const Lifetimes lifetimes_;
  Memory memory_;
  Registers registers_;
  BoundCall bound_;
  WorkCounter counter_;  // of all calls, so that it knows which values are views
};

bool comes_first(const OperatorCost& a, const OperatorCost& b) {
  const auto bytes = [](const OperatorCost& each) { return each.work.bytes_read + each.work.bytes_written; };
  if (a.work.operations != b.work.operations) return a.work.operations > b.work.operations;
  if (bytes(a) != bytes(b)) return bytes(a) > bytes(b);
  return std::string_view(a.op->schema().name) < b.op->schema().name;
}

// Returns a number with at most four digits before its unit: "8.18 G".
std::string operations_text(double number) {
  static constexpr const char* kUnits[] = {"", " k", " M", " G", " T", " P", " E"};
  size_t unit = 0;
  while (number >= 999.5 && unit + 1 < std::size(kUnits)) {
    number /= 1000;
    ++unit;
  }
  return format_text(unit == 0 ? "%.0f%s" : "%.2f%s", number, kUnits[unit]);
}

std::string format_table(const Cost& cost) {
  std::vector<std::vector<std::string>> rows = {{"operator", "calls", "operations", "read", "written"}};
  const auto add = [&](const char* name, uint64_t calls, const CallWork& work) {
    rows.push_back({name, std::to_string(calls), operations_text(work.operations), memory_text(work.bytes_read),
                    memory_text(work.bytes_written)});
  };
  uint64_t calls = 0;
  for (const OperatorCost& each : cost.operators) {
    add(each.op->schema().name, each.calls, each.work);
    calls += each.calls;
  }
  add("total", calls, cost.total);
  return columns_text(rows) + memory_text(cost.constant_bytes) + " of constants, at most " +
         memory_text(cost.peak_bytes) + " of values at a time\n";
}

}  // namespace

Cost cost_of(const Program& program, std::span<const of_size_value> sizes) {
  Cost cost = Walk(program, values_of(program, sizes)).run();
  std::sort(cost.operators.begin(), cost.operators.end(), comes_first);
  cost.table = format_table(cost);
  return cost;
}

}  // namespace oneflow::graph
