#include "parallel/processes/described.h"

#include "dispatch/call.h"

namespace oneflow::processes {

namespace {

// Calls visit(position, number) for each attribute that is an integer.
template <class Visit>
void for_each_integer(const Schema& schema, Visit&& visit) {
  size_t number = 0;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const Argument& argument = schema.arguments[i];
    const bool is_integer = argument.type == ArgumentType::kInt || argument.type == ArgumentType::kDim;
    if (is_integer && !argument.is_list) visit(i, number++);
  }
}

}  // namespace

void Described::add(int64_t value) {
  hash_ = (hash_ ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15ull;
  hash_ ^= hash_ >> 32;
}

void Described::add(const char* text) {
  for (; *text; ++text) add(int64_t{*text});
}

Described::Described(const char* name) : name_(name), hash_(1) { add(name); }

Described::Described(const Call& call, int free_dim, const char* device_type)
    : name_(call.schema().function_name),
      device_type_(device_type),
      schema_(&call.schema()),
      variant_(match_variant(call)) {
  const Tensor& tensor = call.tensor(0);
  dtype_ = tensor.dtype();
  sizes_ = tensor.sizes();
  if (free_dim >= 0) sizes_[free_dim] = -1;
  for_each_integer(*schema_, [&](size_t position, size_t number) {
    integers_.at(number) = call.integer(static_cast<int>(position));
  });
  hash_ = schema_->signature_id;
  add(dtype_);
  add(variant_);
  add(sizes_.rank());
  for (int d = 0; d < sizes_.rank(); ++d) add(sizes_[d]);
  for (const int64_t each : integers_) add(each);
  // Sizes may differ between ranks, but all give one or none does.
  for (size_t i = 0; i < schema_->arguments.size(); ++i)
    if (schema_->arguments[i].type == ArgumentType::kSize) add(int64_t{call.is_given(static_cast<int>(i))});
  add(device_type_);
}

Described Described::transfer(const Call& call, const char* device_type) {
  Described described(call, -1, device_type);
  described.hash_ = 2;
  described.add(described.dtype_);
  for (int d = 0; d < described.sizes_.rank(); ++d) described.add(described.sizes_[d]);
  described.add(device_type);
  return described;
}

std::string Described::text() const {
  if (!schema_) return std::string(name_) + "()";
  std::string text = std::string(name_) + "(" + dtype_name(dtype_) + " [";
  for (int d = 0; d < sizes_.rank(); ++d) text += (d ? ", " : "") + (sizes_[d] < 0 ? "?" : std::to_string(sizes_[d]));
  text += "]";
  if (*device_type_) text += std::string(" of ") + device_type_;
  if (schema_->match.argument >= 0)
    text += std::string(", ") + schema_->arguments[static_cast<size_t>(schema_->match.argument)].name + "='" +
            schema_->match.values[static_cast<size_t>(variant_)] + "'";
  for_each_integer(*schema_, [&](size_t position, size_t number) {
    text += std::string(", ") + schema_->arguments[position].name + "=" + std::to_string(integers_[number]);
  });
  return text + ")";
}

}  // namespace oneflow::processes
