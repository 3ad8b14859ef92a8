#include "tensor/indexing.h"

#include "errors.h"
#include "memory.h"
#include "tensor/convert.h"
#include "tensor/native_data.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

// The maximum number of index parts. There may be more parts than dimensions, because each nil adds a dimension.
constexpr int kMaxParts = 2 * OF_MAX_RANK;

[[noreturn]] void raise_part(VALUE part) {
  raise(OF_TYPE_MISMATCH,
        "index: parts must be Integer, Range, Array, Tensor, nil, true, false, :all or :rest, got %" PRIsVALUE,
        RB_SYMBOL_P(part) ? rb_inspect(part) : type_description(part));
}

// Converts an Integer of an index. Raises TypeMismatch for other objects, IndexOutOfRange beyond int64.
int64_t integer(VALUE value) {
  if (!RB_INTEGER_TYPE_P(value)) {
    raise(OF_TYPE_MISMATCH, "index: bounds must be Integer, got %" PRIsVALUE, type_description(value));
  }
  int64_t number = 0;
  if (!int64_of(value, &number)) raise(OF_INDEX_OUT_OF_RANGE, "index: %" PRIsVALUE " is out of range", value);
  return number;
}

// Converts a range such as 1..3, 1...3, 1.., (0..10) % 2 or 8.step(0, -2) to a slice, whose stop is exclusive. The stop
// after an inclusive end is the next integer in the direction of the step. After an end of -1, or of 0 with a negative
// step, that integer would count from the opposite end of the dimension: the slice then has no stop.
void slice(const rb_arithmetic_sequence_components_t& range, of_index* part) {
  part->kind = OF_INDEX_SLICE;
  part->step = NIL_P(range.step) ? 1 : integer(range.step);
  part->has_start = !NIL_P(range.begin);
  if (part->has_start) part->start = integer(range.begin);
  part->has_stop = !NIL_P(range.end);
  if (!part->has_stop) return;
  part->stop = integer(range.end);
  if (range.exclude_end) return;
  const int64_t last = part->step < 0 ? 0 : -1;  // the last element in the direction of the step
  part->has_stop = part->stop != last && part->stop != INT64_MAX && part->stop != INT64_MIN;
  if (part->has_stop) part->stop += part->step < 0 ? -1 : 1;
}

// Returns the index tensor for an Array: int64 for an empty Array, else of the inferred dtype.
VALUE index_tensor(VALUE array, of_device device) {
  VALUE tensor = tensor_from_array("index: part", array, OF_DTYPE_NONE, device);
  const bool is_empty = of_tensor_count(handle_of(tensor)) == 0;
  return is_empty ? tensor_from_array("index: part", array, OF_INT64, device) : tensor;
}

// Converts one index part. An Array becomes a tensor; `object` keeps the tensor of the part alive.
void convert_part(VALUE self, VALUE value, of_index* part, VALUE* object) {
  static const ID all = rb_intern("all"), rest = rb_intern("rest");
  rb_arithmetic_sequence_components_t range;
  *part = {};
  if (RB_INTEGER_TYPE_P(value)) {
    part->kind = OF_INDEX_INT;
    part->start = integer(value);
  } else if (NIL_P(value)) {
    part->kind = OF_INDEX_NEW;
  } else if (value == Qtrue || value == Qfalse) {
    part->kind = OF_INDEX_BOOL;
    part->start = value == Qtrue;
  } else if (RB_SYMBOL_P(value)) {
    if (SYM2ID(value) != all && SYM2ID(value) != rest) raise_part(value);
    part->kind = SYM2ID(value) == all ? OF_INDEX_SLICE : OF_INDEX_ELLIPSIS;
    part->step = 1;
  } else if (is_tensor(value) || RB_TYPE_P(value, T_ARRAY)) {
    *object = is_tensor(value) ? value : index_tensor(value, info_of(self).device);
    part->kind = OF_INDEX_TENSOR;
    part->tensor = handle_of_argument("index", "part", *object);
  } else if (range_of(value, &range)) {
    slice(range, part);
  } else {
    raise_part(value);
  }
}

// The converted parts of an index.
struct Parts {
  of_index parts[kMaxParts];
  VALUE objects[kMaxParts];  // the tensors of the parts, kept alive; nil for other parts
  int count;
  bool gives_view;
  double work;  // number of elements that indexing reads; 0 for a view
};

void convert_parts(VALUE self, int count, const VALUE* values, Parts* parts) {
  if (count > kMaxParts) raise(OF_INDEX_OUT_OF_RANGE, "index: takes at most %d parts, got %d", kMaxParts, count);
  parts->count = count;
  parts->gives_view = true;
  parts->work = 0;
  for (int i = 0; i < count; ++i) {
    parts->objects[i] = Qnil;
    convert_part(self, values[i], &parts->parts[i], &parts->objects[i]);
    const of_index& part = parts->parts[i];
    if (part.kind == OF_INDEX_TENSOR) parts->work += static_cast<double>(of_tensor_work(part.tensor));
    if (part.kind == OF_INDEX_TENSOR || part.kind == OF_INDEX_BOOL) parts->gives_view = false;
  }
  if (!parts->gives_view) parts->work += static_cast<double>(of_tensor_work(handle_of(self)));
}

VALUE get(int count, VALUE* values, VALUE self) {
  Parts parts;
  convert_parts(self, count, values, &parts);
  VALUE object = new_tensor();
  of_tensor tensor = handle_of(self), result;
  check(run_native(parts.work >= OF_LONG_WORK,
                   [&] { return of_tensor_index(tensor, parts.parts, parts.count, &result); }));
  fill_tensor(object, result);
  if (parts.gives_view && RB_OBJ_FROZEN(self)) rb_obj_freeze(object);
  return object;
}

VALUE set(int count, VALUE* values, VALUE self) {
  rb_check_arity(count, 1, UNLIMITED_ARGUMENTS);
  const of_tensor_info info = info_of(self);
  VALUE value = values[count - 1];
  Parts parts;
  convert_parts(self, count - 1, values, &parts);
  of_value converted = {};
  bool in_range = true;
  if (RB_TYPE_P(value, T_ARRAY) || RB_TYPE_P(value, T_COMPLEX))
    value = tensor_from_array("index: value", value, info.dtype, info.device);
  if (is_tensor(value)) {
    converted.kind = OF_VALUE_TENSOR;
    converted.as.tensor = handle_of_argument("index", "value", value);
    parts.work += static_cast<double>(of_tensor_work(converted.as.tensor));
  } else if (!number_of(value, &converted, &in_range)) {
    raise(OF_TYPE_MISMATCH, "index: value must be Tensor, Numeric or Array, got %" PRIsVALUE, type_description(value));
  }
  if (!in_range) raise(OF_INVALID_ARGUMENT, "index: value must fit into 64 bits, got a larger integer");
  rb_check_frozen(self);  // after the conversions, which may run Ruby code that freezes the tensor
  of_tensor tensor = handle_of(self);
  // An upper bound: a view may have all elements of the tensor.
  const double work = parts.work + static_cast<double>(of_tensor_work(tensor));
  check(run_native(work >= OF_LONG_WORK,
                   [&] { return of_tensor_set_index(tensor, parts.parts, parts.count, &converted); }));
  RB_GC_GUARD(value);
  return values[count - 1];
}

}  // namespace

void define_indexing() {
  rb_define_method(tensor_class, "[]", get, -1);
  rb_define_method(tensor_class, "[]=", set, -1);
}

}  // namespace oneflow::ruby
