#include "calls/expression.h"

#include <ruby/ractor.h>

#include <algorithm>
#include <iterator>

#include "accounting.h"
#include "calls/call.h"
#include "calls/define.h"
#include "calls/types.h"
#include "errors.h"
#include "memory.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

VALUE expression_class, path_class;

// ---------------------------------------------------------------- the object

size_t expression_size(const void* memory) {
  of_expression_info info = {};
  info.struct_size = sizeof(info);
  of_expression_get_info(static_cast<of_expression>(const_cast<void*>(memory)), &info);
  return info.memory;
}

void free_expression(void* memory) {
  account_freed(expression_size(memory));
  of_expression_release(static_cast<of_expression>(memory));
}

// An expression is immutable, so that Ractors may share it.
const rb_data_type_t expression_type = {
    "OneFlow::EinsumExpression",
    {nullptr, free_expression, expression_size, nullptr, {nullptr}},
    nullptr,
    nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

// Returns the handle, borrowed from the object. It is never NULL: Ruby code cannot allocate an object without a handle.
of_expression handle_of_expression(VALUE self) {
  return static_cast<of_expression>(rb_check_typeddata(self, &expression_type));
}

of_expression_info info_of_expression(VALUE self) {
  of_expression_info info = {};
  info.struct_size = sizeof(info);
  check(of_expression_get_info(handle_of_expression(self), &info));
  return info;
}

// ---------------------------------------------------------------- creation

enum { kEquation, kOperands, kOptimize, kMemoryLimit };

constexpr of_type kOperandsType = type_of(OF_TYPE_VALUE, "Array of Tensors or shapes");
constexpr of_type kNameType = or_nil(kStringType), kFlagType = or_nil(type_of(OF_TYPE_BOOL, "true or false"));
constexpr of_type kPairType = type_of(OF_TYPE_PAIR, "pair of Integers", &kIntegerType);
constexpr of_type kPathType = type_of(OF_TYPE_LIST, "Array of pairs of Integers", &kPairType);
constexpr of_type kLimitType = or_nil(kIntegerType);

// The parameters of the overloads, one for each type of `optimize`.
template <const of_type& optimize>
constexpr of_parameter kParameters[] = {required("equation", kStringType), required("operands", kOperandsType),
                                        optional("optimize", optimize), optional("memory_limit", kLimitType)};
constexpr of_overload kCreationOverloads[] = {hand_written(kParameters<kNameType>, false),
                                              hand_written(kParameters<kFlagType>, false),
                                              hand_written(kParameters<kPathType>, false)};

Function creation_function(const char* name) {
  return {.function = {name, nullptr, kCreationOverloads, std::size(kCreationOverloads), true}};
}
Function expression_function = creation_function("einsum_expression"), path_function = creation_function("einsum_path");

bool is_array(VALUE value) { return RB_TYPE_P(value, T_ARRAY); }

// Returns whether an argument is a list of all operands, rather than the shape of a single one.
bool is_list_of_operands(VALUE value) {
  if (!is_array(value) || RARRAY_LEN(value) == 0) return false;
  const VALUE first = RARRAY_AREF(value, 0);
  return is_tensor(first) || is_array(first);
}

// Collects operands that were passed one by one into an Array. The generic binder cannot do this, because an operand
// that is a shape is an Array as well. `values` must have room for two values and outlive the use of the site.
void gather_operands(CallSite* site, VALUE* values) {
  if (site->count < 2 || (site->count == 2 && is_list_of_operands(site->values[1]))) return;
  values[0] = site->values[0];
  values[1] = rb_ary_new_from_values(site->count - 1, site->values + 1);
  site->values = values;
  site->count = 2;
}

// Returns the sum of the ranks of all operands. Raises TypeMismatch for an operand that is neither a Tensor nor an
// Array of Integers.
size_t measure(const char* function, VALUE operands) {
  size_t total = 0;
  for (long i = 0; i < RARRAY_LEN(operands); ++i) {
    const VALUE operand = RARRAY_AREF(operands, i);
    if (is_tensor(operand)) {
      total += of_tensor_rank(handle_of_argument(function, "operands", operand, i));
      continue;
    }
    bool fits = is_array(operand);
    for (long d = 0; fits && d < RARRAY_LEN(operand); ++d) {
      int64_t size;
      fits = int64_of(RARRAY_AREF(operand, d), &size);
    }
    if (!fits) {
      raise(OF_TYPE_MISMATCH, "%s: operands[%ld] must be Tensor or Array of Integers, got %" PRIsVALUE, function, i,
            type_description(operand));
    }
    total += RARRAY_LEN(operand);
  }
  return total;
}

// Writes the shapes of the operands, whose sizes go to `sizes`. No Ruby code may run between measure() and this
// function.
void read_shapes(VALUE operands, of_shape* shapes, int64_t* sizes) {
  for (long i = 0; i < RARRAY_LEN(operands); ++i) {
    const VALUE operand = RARRAY_AREF(operands, i);
    int64_t* end = sizes;
    if (is_tensor(operand)) {
      const of_tensor tensor = handle_of(operand);
      end = std::copy_n(of_tensor_sizes(tensor), of_tensor_rank(tensor), end);
    } else {
      for (long d = 0; d < RARRAY_LEN(operand); ++d) int64_of(RARRAY_AREF(operand, d), end++);
    }
    shapes[i] = {static_cast<int32_t>(end - sizes), sizes};
    sizes = end;
  }
}

// Creates the expression from the arguments of einsum_expression or einsum_path.
VALUE create(const Function& function, int count, VALUE* values) {
  const char* name = function.function.name;
  CallSite site = site_of(function, count, values, Qundef);
  VALUE gathered[2];
  gather_operands(&site, gathered);
  BoundCall call(site);
  call.bind();

  VALUE equation = call.native(kEquation), optimize_name = call.native(kOptimize);
  const of_value& optimize = call.values()[kOptimize];
  of_expression_options options = {};
  options.struct_size = sizeof(options);
  const char* text = name_of(name, "equation", &equation);
  if (optimize.kind == OF_VALUE_BOOL) options.optimize = optimize.as.boolean ? "auto" : "none";
  if (optimize.kind == OF_VALUE_STRING) options.optimize = name_of(name, "optimize", &optimize_name);
  if (optimize.kind == OF_VALUE_INT_LIST) {
    options.path = optimize.as.integers;
    options.path_count = static_cast<size_t>(optimize.count);
  }
  const of_value& limit = call.values()[kMemoryLimit];
  if (limit.kind == OF_VALUE_INT) options.memory_limit = limit.as.integer;
  const VALUE object = rb_data_typed_object_wrap(expression_class, nullptr, &expression_type);
  VALUE operands = call.native(kOperands);
  if (!is_array(operands)) operands = rb_ary_new_from_args(1, operands);
  const long operand_count = RARRAY_LEN(operands);
  const size_t size_count = measure(name, operands);
  VALUE sizes_memory, shapes_memory;  // one element more than needed, so that neither buffer is empty
  int64_t* sizes = ALLOCV_N(int64_t, sizes_memory, size_count + 1);
  of_shape* shapes = ALLOCV_N(of_shape, shapes_memory, operand_count + 1);
  read_shapes(operands, shapes, sizes);
  of_expression handle = nullptr;
  const of_status status = run_native(
      true, [&] { return of_expression_create(text, shapes, static_cast<size_t>(operand_count), &options, &handle); });
  RB_GC_GUARD(equation);
  RB_GC_GUARD(optimize_name);
  ALLOCV_END(sizes_memory);
  ALLOCV_END(shapes_memory);
  check(status);
  RTYPEDDATA_DATA(object) = handle;
  account_allocated(expression_size(handle));
  return rb_obj_freeze(object);
}

// ---------------------------------------------------------------- call

constexpr of_type kTensorsType = type_of(OF_TYPE_ITEMS, "Array of Tensors", &kTensorType);
constexpr of_parameter kCallParameters[] = {required("operands", kTensorsType)};
constexpr of_overload kCallOverload = hand_written(kCallParameters, true);

// The errors of a call are those of einsum, and name it.
Function operands_function = {.function = {"einsum", nullptr, &kCallOverload, 1, false}};

VALUE call_expression(int count, VALUE* values, VALUE self) {
  BoundCall call(site_of(operands_function, count, values, Qundef));
  call.bind();
  const of_expression handle = handle_of_expression(self);
  const of_value& operands = call.values()[0];
  const VALUE out = call.out();
  of_value result = {};
  if (out != Qundef) result = target_value(out);
  const VALUE target = out == Qundef ? new_tensor() : out;
  const auto work = [&] {
    return of_expression_call(handle, operands.as.tensors, static_cast<size_t>(operands.count), &result);
  };
  check(call.run(of_call_is_long(nullptr, call.values(), 1), work,
                 out == Qundef ? Interrupted::kRepeats : Interrupted::kWaits));
  if (out == Qundef) fill_tensor(target, result.as.tensor);
  call.release();
  RB_GC_GUARD(self);
  return target;
}

// ---------------------------------------------------------------- properties

VALUE string_of(const char* text) { return rb_utf8_str_new_cstr(text); }

VALUE equation(VALUE self) { return string_of(info_of_expression(self).equation); }
VALUE flops(VALUE self) { return DBL2NUM(info_of_expression(self).operations); }
VALUE naive_flops(VALUE self) { return DBL2NUM(info_of_expression(self).operations_at_once); }
VALUE largest_intermediate(VALUE self) { return DBL2NUM(info_of_expression(self).largest_intermediate); }
VALUE report(VALUE self) { return string_of(info_of_expression(self).report); }

VALUE shape(VALUE self) {
  const of_expression_info info = info_of_expression(self);
  return to_ruby(info.sizes, info.rank);
}

VALUE shapes(VALUE self) {
  const size_t count = info_of_expression(self).operand_count;
  VALUE list = rb_ary_new_capa(static_cast<long>(count));
  for (size_t i = 0; i < count; ++i) {
    of_shape operand;
    check(of_expression_get_shape(handle_of_expression(self), i, &operand));
    rb_ary_push(list, to_ruby(operand.sizes, operand.rank));
  }
  return list;
}

VALUE path(VALUE self) {
  const of_expression_info info = info_of_expression(self);
  VALUE list = rb_ary_new_capa(static_cast<long>(info.path_count / 2));
  for (size_t i = 0; i < info.path_count; i += 2) rb_ary_push(list, to_ruby(info.path + i, 2));
  return list;
}

// ---------------------------------------------------------------- functions

// OneFlow.einsum_expression(equation, *shapes)
VALUE einsum_expression(int count, VALUE* values, VALUE) { return create(expression_function, count, values); }

// OneFlow.einsum_path(equation, *operands)
VALUE einsum_path(int count, VALUE* values, VALUE) {
  const VALUE expression = create(path_function, count, values);
  const VALUE found = rb_struct_new(path_class, path(expression), flops(expression), naive_flops(expression),
                                    largest_intermediate(expression), report(expression));
  return rb_ractor_make_shareable(found);  // freezes it deeply
}

}  // namespace

void define_expressions(VALUE module) {
  for (Function* each : {&expression_function, &path_function, &operands_function}) prepare_names(*each);
  path_class = rb_struct_define_under(module, "EinsumPath", "path", "flops", "naive_flops", "largest_intermediate",
                                      "report", nullptr);
  expression_class = rb_define_class_under(module, "EinsumExpression", rb_cObject);
  rb_undef_alloc_func(expression_class);
  rb_undef_method(rb_singleton_class(expression_class), "new");
  rb_define_method(expression_class, "call", call_expression, -1);
  rb_define_method(expression_class, "equation", equation, 0);
  rb_define_method(expression_class, "shapes", shapes, 0);
  rb_define_method(expression_class, "shape", shape, 0);
  rb_define_method(expression_class, "path", path, 0);
  rb_define_method(expression_class, "flops", flops, 0);
  rb_define_method(expression_class, "naive_flops", naive_flops, 0);
  rb_define_method(expression_class, "largest_intermediate", largest_intermediate, 0);
  rb_define_method(expression_class, "report", report, 0);
  rb_define_singleton_method(module, "einsum_expression", einsum_expression, -1);
  rb_define_singleton_method(module, "einsum_path", einsum_path, -1);
}

}  // namespace oneflow::ruby
