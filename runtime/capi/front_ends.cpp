// The C API: what front ends decide alike.
#include <oneflow/front_end.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/characters.h"
#include "base/interrupt.h"
#include "capi/boundary.h"
#include "dispatch/dispatch.h"
#include "graph/session/session.h"

using namespace oneflow;

namespace {

constexpr double kLongProduct = 1 << 22;  // of the sizes of the operands
constexpr size_t kLongestName = 64;
// From here on, a label may stand for another one, which the front end's language or 64 bits cannot hold.
constexpr int64_t kLargestSafe = (int64_t{1} << 53) - 1;

// The elements that a call works on.
struct Work {
  double sum = 0, product = 1;  // of the sizes of all tensors
  double created = 0;           // at most as many elements does a call without tensors create

  void add(of_tensor tensor) {
    if (!tensor) return;
    const auto elements = static_cast<double>(of_tensor_work(tensor));
    sum += elements;
    product *= elements;
  }
  bool is_long() const { return (sum > 0 ? sum : created) >= OF_LONG_WORK || product >= kLongProduct; }
};

// Returns the number of bytes to insert, delete, replace or swap with the next to turn one word into another.
size_t edit_distance(std::string_view a, std::string_view b) {
  using Row = std::array<size_t, kLongestName + 1>;
  Row rows[3];  // of the last two bytes of `a` and this one, in turns
  std::iota(rows[0].begin(), rows[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    const Row &before = rows[(i + 1) % 3], &above = rows[(i - 1) % 3];
    Row& row = rows[i % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] != b[j - 1]), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

bool of_run_is_long(of_session session, const of_tensor* inputs, size_t count) {
  constexpr size_t kFewCalls = 16;
  if (!session || count == 0) return true;
  const graph::Graph& graph = graph::to_session(session)->graph();
  if (graph.program().nodes.size() > kFewCalls || graph.description().constant_count > OF_LONG_WORK) return true;
  const of_value list{OF_VALUE_TENSOR_LIST, static_cast<int32_t>(count), {.tensors = const_cast<of_tensor*>(inputs)}};
  return of_call_is_long(nullptr, &list, 1);
}

bool of_call_is_long(of_op op, const of_value* args, size_t arg_count) {
  if (op && to_operator(op)->schema().is_quick) return false;
  if (op && to_operator(op)->schema().between_processes) return true;
  Work work;
  for (const of_value& value : std::span(args, arg_count)) {
    switch (value.kind) {
      case OF_VALUE_TENSOR:
        work.add(value.as.tensor);
        break;
      case OF_VALUE_TENSOR_LIST:
        for (int32_t i = 0; i < value.count; ++i) work.add(value.as.tensors[i]);
        break;
      case OF_VALUE_INT:
        work.created = std::max(work.created, std::abs(static_cast<double>(value.as.integer)));
        break;
      case OF_VALUE_FLOAT:
        work.created = std::max(work.created, std::abs(value.as.real));
        break;
      case OF_VALUE_INT_LIST: {
        double product = 1;
        for (int32_t i = 0; i < value.count; ++i) product *= static_cast<double>(value.as.integers[i]);
        work.created = std::max(work.created, product);
        break;
      }
      case OF_VALUE_DEVICE:
        if (of_device_waits(value.as.device)) return true;
        break;
      case OF_VALUE_DEVICE_LIST:
        if (std::any_of(value.as.devices, value.as.devices + value.count, of_device_waits)) return true;
        break;
      default:
        break;
    }
  }
  return work.is_long();
}

void of_set_interrupt_check(of_interrupt_check check, void* context, of_interrupt_check* check_before,
                            void** context_before) {
  const InterruptCheck before = std::exchange(interrupt_check, {check, context});
  if (check_before) *check_before = before.function;
  if (context_before) *context_before = before.context;
}

int32_t of_refusal_rank(of_refusal reason, int32_t reached, bool is_likely) {
  constexpr int32_t kMostArguments = 1000;  // a stage ranks above everything that happens in the one before
  const int32_t stage = reason == OF_REFUSAL_VALUE ? 2 : reason == OF_REFUSAL_TOO_MANY ? 0 : 1;
  return (stage * kMostArguments + std::clamp(reached, 0, kMostArguments - 1)) * 2 + is_likely;
}

int32_t of_nearest_name(const char* word, const char* const* names, size_t count) {
  const std::string_view wanted = word ? word : "";
  if (wanted.size() > kLongestName || !names) return -1;
  // Something of the word must be left.
  size_t least = std::min(std::max<size_t>(1, wanted.size() / 3) + 1, wanted.size());
  int32_t nearest = -1;
  for (size_t i = 0; i < count; ++i) {
    if (!names[i]) continue;
    const std::string_view name = names[i];
    if (name.size() > kLongestName) continue;
    const size_t distance = edit_distance(wanted, name);
    if (distance >= least) continue;
    least = distance;
    nearest = static_cast<int32_t>(i);
  }
  return nearest;
}

void of_error_set_caller(const char* caller) {
  if (!caller || last_error_is_complete()) return;
  guard([&] {
    const std::string_view text = last_error();
    const size_t end = text.find(": ");
    if (end != std::string_view::npos) set_last_error(OF_OK, (caller + std::string(text.substr(end))).c_str());
  });
}

of_status of_label_term(const char* function, int32_t operand, const int64_t* labels, size_t count,
                        char term[OF_TERM_SIZE]) {
  return guard([&, name = __func__] {
    require(function, name, "function");
    require(term, name, "term");
    const std::string whose = operand < 0 ? "labels of the result" : "labels of operand " + std::to_string(operand);
    if (count > OF_MAX_LABELS)
      fail(OF_SHAPE_ERROR, "%s: %s must be at most %d and '...', got %zu", function, whose.c_str(), OF_MAX_RANK, count);
    if (count) require(labels, name, "labels");
    char* const end = term + OF_TERM_SIZE;
    char* at = term;
    *at++ = '[';
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) *at++ = ',';
      if (labels[i] == OF_LABEL_ELLIPSIS) {
        at = std::copy_n("...", 3, at);
        continue;
      }
      if (labels[i] <= -kLargestSafe) fail(OF_INVALID_ARGUMENT, "%s: %s must not be negative", function, whose.c_str());
      if (labels[i] < 0)
        fail(OF_INVALID_ARGUMENT, "%s: %s must not be negative, got %lld", function, whose.c_str(),
             static_cast<long long>(labels[i]));
      if (labels[i] > INT32_MAX)
        fail(OF_INVALID_ARGUMENT, "%s: %s must be at most %d", function, whose.c_str(), INT32_MAX);
      at = std::to_chars(at, end, labels[i]).ptr;
    }
    *at++ = ']';
    *at = '\0';
  });
}

int32_t of_text_columns(const char* text) {
  int32_t columns = 0;
  guard([&, function = __func__] {
    require(text, function, "text");
    columns = columns_of(text);
  });
  return columns;
}

of_status of_text_cut(const char* text, int32_t columns, char** result) {
  return guard([&, function = __func__] {
    require(text, function, "text");
    require(result, function, "result");
    store_text(cut_to(text, columns), result);
  });
}

of_status of_text_printable(const char* text, char** result) {
  return guard([&, function = __func__] {
    require(text, function, "text");
    require(result, function, "result");
    store_text(printable(text), result);
  });
}
