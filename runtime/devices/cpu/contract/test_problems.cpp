#include "contract/test_problems.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "simd/convert.h"
#include "simd/element.h"

namespace oneflow::cpu {

template <class Visit>
void TestContraction::for_each_index(const std::vector<Dim>& dims, Visit&& visit) const {
  std::vector<int64_t> index(dims.size());
  int64_t offsets[kOperands];
  for (const Operand operand : {kA, kB, kC, kBias}) offsets[operand] = first_[operand] + guard_of(operand);
  for (;;) {
    visit(offsets);
    size_t d = dims.size();
    for (; d > 0; --d) {
      const Dim& dim = dims[d - 1];
      const bool is_last = ++index[d - 1] >= dim.size;
      if (is_last) index[d - 1] = 0;
      const int64_t steps = is_last ? 1 - std::max<int64_t>(1, dim.size) : 1;
      for (const Operand operand : {kA, kB, kC, kBias}) offsets[operand] += steps * dim.strides[operand];
      if (!is_last) break;
    }
    if (d == 0) return;
  }
}

TestContraction::TestContraction(const std::string& equation, const std::map<char, int64_t>& sizes, of_dtype dtype)
    : equation_(equation), sizes_(sizes), dtype_(dtype) {
  const size_t comma = equation.find(','), arrow = equation.find("->");
  labels_[kA] = equation.substr(0, comma);
  labels_[kB] = equation.substr(comma + 1, arrow - comma - 1);
  labels_[kC] = equation.substr(arrow + 2);
  all_labels_ = labels_[kC];
  for (const char label : labels_[kA] + labels_[kB])
    if (all_labels_.find(label) == std::string::npos) all_labels_ += label;
  for (const char label : all_labels_) dims_.push_back({sizes_.at(label), {0, 0, 0, 0}});
  for (const Operand operand : {kA, kB, kC}) lay_out(operand, {});
  for (const char label : labels_[kC])
    if (!has(kA, label)) labels_[kBias] += label;
  lay_out(kBias, {});
}

TestContraction& TestContraction::lay_out(Operand operand, const TestLayout& layout) {
  const std::string& order = layout.order.empty() ? labels_[operand] : layout.order;
  if (!layout.order.empty() || layout.padding != 0 || layout.step != 1) {
    layouts_ += " " + std::string(1, "ABCb"[operand]) + "=" + order + ":" + std::to_string(layout.padding) + ":" +
                std::to_string(layout.step);
  }
  int64_t next = layout.step;
  first_[operand] = 0;
  count_[operand] = 1;
  for (size_t i = order.size(); i-- > 0;) {
    Dim& dim = dims_.at(all_labels_.find(order[i]));
    const int64_t reach = std::max<int64_t>(0, dim.size - 1) * std::abs(next);
    dim.strides[operand] = next;
    count_[operand] += reach;
    if (next < 0) first_[operand] += reach;
    next = std::abs(next) * dim.size + (i + 1 == order.size() ? layout.padding : 0);
  }
  return *this;
}

Problem TestContraction::problem() const {
  Problem problem;
  problem.dtype = dtype_;
  problem.alpha = alpha_;
  problem.beta = beta_;
  problem.has_bias = has_bias_;
  for_each_dim([&](DimGroup Problem::*group, const Dim& dim) {
    if (dim.size != 1) (problem.*group).add(dim);
  });
  canonicalize(problem);
  return problem;
}

void TestContraction::expect_computed(const std::function<of_status(const Addresses&)>& run) const {
  const std::vector<double> a = values_of(kA), b = values_of(kB), c = values_of(kC), bias = values_of(kBias);
  const std::vector<char> stored_a = stored(a), stored_b = stored(b), stored_bias = stored(bias);
  std::vector<CacheLine> stored_c(c.size() * static_cast<size_t>(item_size(dtype_)) / sizeof(CacheLine) + 1);
  store(c, stored_c.data());

  Addresses addresses{};
  const auto address_of = [&](const void* memory, Operand operand) {
    return static_cast<const char*>(memory) + (first_[operand] + guard_of(operand)) * item_size(dtype_);
  };
  addresses.operands[kA] = address_of(stored_a.data(), kA);
  addresses.operands[kB] = address_of(stored_b.data(), kB);
  addresses.operands[kC] = addresses.c = const_cast<char*>(address_of(stored_c.data(), kC));
  addresses.operands[kBias] = has_bias_ ? stored_bias.data() : nullptr;
  ASSERT_EQ(run(addresses), OF_OK) << description();

  const auto count = static_cast<int64_t>(c.size());
  const std::vector<char> stored_expected = stored(expected_c(a, b, c, bias));
  std::vector<double> expected(c.size()), actual(c.size());
  find_conversion(dtype_, OF_FLOAT64)(stored_expected.data(), expected.data(), count);
  find_conversion(dtype_, OF_FLOAT64)(stored_c.data(), actual.data(), count);
  for (size_t i = 0; i < c.size(); ++i) {
    if (actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]))) continue;
    FAIL() << description() << ": C is " << actual[i] << " instead of " << expected[i] << " at the offset "
           << static_cast<int64_t>(i) - first_[kC] - kGuard;
  }
}

std::string TestContraction::description() const {
  std::ostringstream text;
  text << equation_;
  for (const auto& [label, size] : sizes_) text << " " << label << "=" << size;
  text << " dtype=" << dtype_ << layouts_;
  return text.str();
}

std::vector<Dim> TestContraction::dims_of(Operand operand) const {
  std::vector<Dim> dims;
  for (size_t d = 0; d < dims_.size(); ++d)
    if (has(operand, all_labels_[d])) dims.push_back(dims_[d]);
  return dims;
}

std::vector<double> TestContraction::expected_c(const std::vector<double>& a, const std::vector<double>& b,
                                                std::vector<double> c, const std::vector<double>& bias) const {
  if (!has_elements(dims_of(kC))) return c;
  for_each_index(dims_of(kC), [&](const int64_t* offsets) {
    double& cell = c[static_cast<size_t>(offsets[kC])];
    cell = beta_ == 0 ? 0 : beta_ * cell;
    if (has_bias_) cell += bias[static_cast<size_t>(offsets[kBias])];
  });
  if (!has_elements(dims_)) return c;
  for_each_index(dims_, [&](const int64_t* offsets) {
    const double product = a[static_cast<size_t>(offsets[kA])] * b[static_cast<size_t>(offsets[kB])];
    c[static_cast<size_t>(offsets[kC])] += alpha_ * product;
  });
  return c;
}

std::vector<double> TestContraction::values_of(Operand operand) const {
  const bool is_float = visit_dtype(dtype_, [](auto value) { return is_floating<decltype(value)>; });
  const bool is_unsigned = dtype_ == OF_UINT8 || dtype_ == OF_UINT16 || dtype_ == OF_UINT32 || dtype_ == OF_UINT64;
  std::vector<double> values(static_cast<size_t>(count_[operand] + 2 * guard_of(operand)),
                             is_float ? std::numeric_limits<double>::quiet_NaN() : 99);
  if (operand == kC && beta_ == 0) return values;
  for_each_index(dims_of(operand), [&](const int64_t* offsets) {
    const auto i = static_cast<uint64_t>(offsets[operand]);
    const auto number = static_cast<double>(((4 * i + operand) * 0x9e3779b97f4a7c15u >> 40) % 5);
    values[i] = dtype_ == OF_BOOL ? number == 0 : is_unsigned ? number : number - 2;
  });
  return values;
}

void TestContraction::store(const std::vector<double>& values, void* to) const {
  find_conversion(OF_FLOAT64, dtype_)(values.data(), to, static_cast<int64_t>(values.size()));
}

std::vector<char> TestContraction::stored(const std::vector<double>& values) const {
  std::vector<char> bytes(values.size() * static_cast<size_t>(item_size(dtype_)));
  store(values, bytes.data());
  return bytes;
}

}  // namespace oneflow::cpu
