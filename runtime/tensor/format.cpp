#include "tensor/format.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/scalar.h"
#include "tensor/host_elements.h"

namespace oneflow {
namespace {

// An element: one number, or the two parts of a complex number.
struct Element {
  of_scalar parts[2];
  int count;  // of parts: 1 or 2

  std::span<const of_scalar> all() const { return {parts, static_cast<size_t>(count)}; }
};

Element read(const char* address, of_dtype dtype) {
  const of_dtype part = part_dtype(dtype);
  Element element{{read_element(address, part), {}}, 1};
  if (is_complex(dtype)) element.parts[element.count++] = read_element(address + dtype_size(part), part);
  return element;
}

// The format of the numbers of one tensor. It is chosen for all elements that are shown, so that their columns align.
class NumberStyle {
 public:
  NumberStyle(const std::vector<Element>& shown, int precision) : precision_(precision) {
    double smallest = INFINITY, largest = 0;
    const auto see = [&](const of_scalar& value) {
      if (value.kind != OF_SCALAR_FLOAT || !std::isfinite(value.as.real) || value.as.real == 0) return;
      const double magnitude = std::abs(value.as.real);
      smallest = std::min(smallest, magnitude);
      largest = std::max(largest, magnitude);
      is_whole_ &= magnitude == std::floor(magnitude);
    };
    for (const Element& element : shown)
      for (const of_scalar& value : element.all()) see(value);
    is_scientific_ = largest > 0 && (largest / smallest > 1000 || largest > 1e8 || (!is_whole_ && smallest < 1e-4));
    for (const Element& element : shown) width_ = std::max(width_, bare_text(element).size());
  }

  size_t width() const { return width_; }

  // Returns an element, right-aligned to width().
  std::string text(const Element& element) const {
    const std::string text = bare_text(element);
    return std::string(width_ - text.size(), ' ') + text;
  }

 private:
  // Returns an element without padding. A complex number is "1.+2.j".
  std::string bare_text(const Element& element) const {
    std::string text = bare_text(element.parts[0]);
    if (element.count == 1) return text;
    const std::string imaginary = bare_text(element.parts[1]);
    if (imaginary[0] != '-') text += '+';
    return text + imaginary + 'j';
  }

  std::string bare_text(const of_scalar& value) const {
    if (value.kind != OF_SCALAR_FLOAT) return to_text(value);
    const double number = value.as.real;
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
    if (is_scientific_) return format_text("%.*e", precision_, number);
    return is_whole_ ? format_text("%.0f.", number) : format_text("%.*f", precision_, number);
  }

  int precision_;
  bool is_whole_ = true;
  bool is_scientific_ = false;
  size_t width_ = 0;
};

// Formats one tensor.
class Formatter {
 public:
  Formatter(const Tensor& tensor, const FormatOptions& options)
      : tensor_(tensor), options_(options), elements_(tensor), is_summarised_(tensor.count() > options.threshold) {}

  std::string format() {
    if (tensor_.count() == 0) return "[]";
    std::vector<Element> shown;
    collect(0, elements_.first(), shown);
    const NumberStyle style(shown, options_.precision);
    return block(0, elements_.first(), style);
  }

 private:
  // Calls part(i) for each index of a dimension that is shown, and gap() once in place of those that are omitted.
  template <class Part, class Gap>
  void for_shown(int dim, Part&& part, Gap&& gap) const {
    const int64_t size = tensor_.size(dim);
    const int64_t edge = options_.edge_items;
    if (!is_summarised_ || size <= 2 * edge) {
      for (int64_t i = 0; i < size; ++i) part(i);
      return;
    }
    for (int64_t i = 0; i < edge; ++i) part(i);
    gap();
    for (int64_t i = size - edge; i < size; ++i) part(i);
  }

  // Returns the address of index `i` of a dimension, relative to the address of index 0.
  const char* at(int dim, const char* address, int64_t i) const {
    return address + i * tensor_.stride(dim) * tensor_.element_bytes();
  }

  // Appends all elements that are shown.
  void collect(int dim, const char* address, std::vector<Element>& shown) const {
    if (dim == tensor_.rank()) {
      shown.push_back(read(address, tensor_.dtype()));
      return;
    }
    for_shown(
        dim, [&](int64_t i) { collect(dim + 1, at(dim, address, i), shown); }, [] {});
  }

  // Formats the dimensions from `dim` on.
  std::string block(int dim, const char* address, const NumberStyle& style) const {
    if (dim == tensor_.rank()) return style.text(read(address, tensor_.dtype()));
    if (dim == tensor_.rank() - 1) return row(address, style);
    std::vector<std::string> parts;
    for_shown(
        dim, [&](int64_t i) { parts.push_back(block(dim + 1, at(dim, address, i), style)); },
        [&] { parts.emplace_back("..."); });
    // An empty line between matrices, two empty lines between three-dimensional blocks, and so on.
    std::string separator = ",";
    separator.append(tensor_.rank() - 1 - dim, '\n');
    return join(parts, separator + margin(dim));
  }

  // Formats the last dimension, in as many lines as it takes.
  std::string row(const char* address, const NumberStyle& style) const {
    const int dim = tensor_.rank() - 1;
    std::vector<std::string> items;
    for_shown(
        dim, [&](int64_t i) { items.push_back(style.text(read(at(dim, address, i), tensor_.dtype()))); },
        [&] { items.emplace_back(" ..."); });
    const int64_t room = options_.line_width - options_.indent - dim;
    const auto per_line = static_cast<size_t>(std::max<int64_t>(room / static_cast<int64_t>(style.width() + 2), 1));
    std::string text = "[";
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) text += i % per_line ? ", " : ",\n" + margin(dim);
      text += items[i];
    }
    return text + "]";
  }

  // Returns the indentation of the lines inside a bracket at depth `dim`.
  std::string margin(int dim) const { return std::string(options_.indent + dim + 1, ' '); }

  static std::string join(const std::vector<std::string>& parts, const std::string& separator) {
    std::string text = "[";
    for (size_t i = 0; i < parts.size(); ++i) text += (i ? separator : "") + parts[i];
    return text + "]";
  }

  const Tensor& tensor_;
  const FormatOptions options_;
  const HostElements elements_;
  const bool is_summarised_;
};

}  // namespace

std::string format_tensor(const Tensor& tensor, const FormatOptions& options) {
  const auto check_range = [](const char* name, int value, int lowest, int highest) {
    if (value < lowest || value > highest)
      fail(OF_INVALID_ARGUMENT, "%s must be between %d and %d, got %d", name, lowest, highest, value);
  };
  check_range("precision", options.precision, 0, 40);
  check_range("threshold", options.threshold, 0, INT32_MAX);
  check_range("edge_items", options.edge_items, 1, INT32_MAX);
  check_range("line_width", options.line_width, 1, INT32_MAX);
  check_range("indent", options.indent, 0, 1000);
  return Formatter(tensor, options).format();
}

}  // namespace oneflow
