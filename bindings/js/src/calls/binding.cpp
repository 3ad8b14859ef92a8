#include "calls/binding.h"

#include <oneflow/front_end.h>

#include <algorithm>

#include "calls/arguments.h"
#include "calls/function_table.h"

namespace oneflow::node {
namespace {

// Returns where separate arguments become the items of the last list; -1 if they never do.
int32_t start_of_items(const of_overload& overload, bool is_method) {
  const int32_t last = overload.positional_count - 1;
  if (last < 0 || overload.parameters[last].type->kind != OF_TYPE_ITEMS) return -1;
  return is_method && overload.receiver >= 0 ? last - 1 : last;
}

// Returns a letter for each sort of values that the short path writes for a type: a Tensor, an Integer, a Real number,
// a Boolean, a String, a Dtype; a List of integers, Several tensors. A float ("F") is any number.
const char* taken(const of_type& type) {
  switch (type.kind) {
    case OF_TYPE_TENSOR:
    case OF_TYPE_INTEGERS:
    case OF_TYPE_WRITTEN:
    case OF_TYPE_SINGLE:
      return "T";
    case OF_TYPE_OPERAND:
      return "TIR";
    case OF_TYPE_NUMBER:
      return "IR";
    case OF_TYPE_INT:
      return "I";
    case OF_TYPE_FLOAT:
      return "F";
    case OF_TYPE_BOOL:
      return "B";
    case OF_TYPE_STRING:
      return "S";
    case OF_TYPE_DTYPE:
      return "D";
    case OF_TYPE_ITEMS:
      return type.items->kind == OF_TYPE_INT ? "L" : *taken(*type.items) == 'T' ? "M" : "";
    default:
      return "";
  }
}

std::vector<of_native> items_of(const Napi::Value& array) {
  std::vector<of_native> items(array.As<Napi::Array>().Length());
  for (uint32_t i = 0; i < items.size(); ++i) items[i] = static_cast<napi_value>(array.As<Napi::Array>().Get(i));
  return items;
}

}  // namespace

of_op operator_of(Environment& environment, const of_overload& overload) {
  if (const of_op op = of_op_find(overload.op)) return op;
  throw environment.make_error(OF_INTERNAL_ERROR, (std::string("the runtime has no operator ") + overload.op).c_str());
}

Napi::Value describe_function(Environment& environment, const of_public_function& function, bool is_in_place) {
  const Napi::Env env = environment.env();
  const std::span overloads(function.overloads, static_cast<size_t>(function.overload_count));
  const auto has_form = [=](const of_overload& each) { return !is_in_place || each.replaced >= 0; };
  const of_overload& first = *std::find_if(overloads.begin(), overloads.end(), has_form);
  auto object = Napi::Object::New(env);
  object.Set("op", first.op != nullptr ? environment.add_operator(operator_of(environment, first), first) : 0);
  object.Set("receiver", first.receiver);
  object.Set("positionalCount", first.positional_count);
  object.Set("resultCount", first.result_count);
  object.Set("parameters", array_of(env, static_cast<size_t>(first.parameter_count), [&](uint32_t i) {
               auto parameter = Napi::Object::New(env);
               parameter.Set("name", first.parameters[i].name);
               parameter.Set("taken", taken(*first.parameters[i].type));
               parameter.Set("isRequired", first.parameters[i].is_required);
               parameter.Set("isOptional", first.parameters[i].type->is_optional);
               return parameter;
             }));
  for (const bool is_method : {false, true}) {
    object.Set(is_method ? "startsOfMethod" : "starts", array_of(env, overloads.size(), [&](uint32_t i) {
                 return Napi::Number::New(env, start_of_items(overloads[i], is_method));
               }));
  }
  return object;
}

BoundArguments::BoundArguments(const Call& call, size_t first, const of_public_function& function, of_manner manner)
    : environment_(call.environment()),
      name_(manner == OF_CALLED_IN_PLACE ? function.in_place_name : function.name),
      arguments_(nullptr, of_arguments_release) {
  CallContext context(environment_);
  context.is_function = true;
  values_ = items_of(call[first]);
  const size_t count = values_.size();
  const std::vector<std::string> names = call.strings(first + 1);
  const std::vector<of_native> named = items_of(call[first + 2]);
  values_.insert(values_.end(), named.begin(), named.end());
  const auto* slots = reinterpret_cast<const int32_t*>(environment_.frame.data + sizeof(Frame::Header));
  for (size_t i = 0; i < values_.size(); ++i)
    if (slots[i] != 0) context.slots[values_[i]] = {slots[i], environment_.generation(slots[i])};
  std::vector<const char*> texts;
  for (const std::string& each : names) texts.push_back(each.c_str());
  of_public_function possible = function;
  if (const auto start = static_cast<int32_t>(call.integer(first + 3)); start >= 0) {
    const std::span overloads(function.overloads, static_cast<size_t>(function.overload_count));
    std::copy_if(overloads.begin(), overloads.end(), std::back_inserter(possible_), [=](const of_overload& each) {
      return start_of_items(each, manner != OF_CALLED_AS_FUNCTION) == start;
    });
    possible.overloads = possible_.data();
    possible.overload_count = static_cast<int32_t>(possible_.size());
  }
  of_arguments* arguments = nullptr;
  const of_status status = of_bind_function(&possible, manner, &javascript, &context, values_.data(), count,
                                            texts.data(), texts.size(), &arguments);
  arguments_.reset(arguments);
  // The texts of the binder have the names of JavaScript, and words of the program; others are those of the runtime.
  const bool is_of_binder = status == OF_TYPE_MISMATCH || status == OF_INVALID_ARGUMENT;
  check_call(environment_, status, is_of_binder);
}

void BoundArguments::check(of_status status) const {
  if (status != OF_OK) of_error_set_caller(name_);
  check_call(environment_, status);
}

Napi::Value finish(const BoundArguments& bound, of_manner manner, const Napi::Value& owner, Environment& environment) {
  const Napi::Env env = environment.env();
  const of_overload& overload = *bound->overload;
  if (bound->output_count > 0) return {env, static_cast<napi_value>(bound->out)};
  if (manner == OF_CALLED_IN_PLACE) {
    const int32_t position = overload.replaced;
    if (!bound->is_given[position]) {
      return array_of(env, bound->item_count,
                      [&](uint32_t i) { return Napi::Value(env, static_cast<napi_value>(bound->items[i])); });
    }
    const Napi::Value given(env, static_cast<napi_value>(bound->natives[position]));
    const bool is_single = bound->values[position].kind == OF_VALUE_TENSOR_LIST && !given.IsArray();
    return is_single ? array_of(env, 1, [&](uint32_t) { return given; }) : given;
  }
  if (overload.result_count == 1 && bound->results[0].kind == OF_VALUE_TENSOR) {
    const int32_t slot = environment.put(bound->results[0].as.tensor);
    if (!owner.IsUndefined()) environment.own(owner, slot);
    return Napi::Number::New(env, slot);
  }
  return results_to_js(environment, overload, bound->results);
}

}  // namespace oneflow::node
