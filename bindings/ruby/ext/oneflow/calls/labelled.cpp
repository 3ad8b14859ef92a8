#include "calls/labelled.h"

#include <oneflow/front_end.h>

#include "errors.h"
#include "tensor/convert.h"
#include "tensor/tensor.h"

namespace oneflow::ruby {
namespace {

constexpr int kResult = -1;

// Returns the name of the labels of an operand or of the result in error texts.
VALUE labels_name(int operand) {
  return operand == kResult ? rb_utf8_str_new_cstr("labels of the result")
                            : rb_sprintf("labels of operand %d", operand);
}

// Raises TypeMismatch. A Symbol or a Range is shown with its value, because another value of the same type might be
// valid.
[[noreturn]] void raise_mismatch(const char* function, VALUE what, const char* expected, VALUE found) {
  rb_arithmetic_sequence_components_t range;
  raise(OF_TYPE_MISMATCH, "%s: %" PRIsVALUE " must be %s, got %" PRIsVALUE, function, what, expected,
        RB_SYMBOL_P(found) || range_of(found, &range) ? rb_inspect(found) : type_description(found));
}

// Converts a finite Range or arithmetic sequence of Integers to an Array; returns other objects unchanged. Of too many
// labels, the first ones are enough, with their number in `count`.
VALUE array_of(VALUE labels, size_t* count) {
  rb_arithmetic_sequence_components_t range;
  if (range_of(labels, &range) && RB_INTEGER_TYPE_P(range.begin) && RB_INTEGER_TYPE_P(range.end) &&
      RB_INTEGER_TYPE_P(range.step)) {
    const VALUE size = rb_funcall(labels, rb_intern("size"), 0);
    labels = rb_funcall(labels, rb_intern("first"), 1, INT2FIX(OF_MAX_LABELS + 1));
    *count = RB_FIXNUM_P(size) ? FIX2ULONG(size) : SIZE_MAX;
  } else if (RB_TYPE_P(labels, T_ARRAY)) {
    *count = RARRAY_LEN(labels);
  }
  return labels;
}

// Appends labels to an equation: "[0,1]".
void add_labels(const char* function, int operand, VALUE labels, VALUE equation) {
  static const ID rest = rb_intern("rest");
  size_t count = 0;
  labels = array_of(labels, &count);
  if (!RB_TYPE_P(labels, T_ARRAY)) raise_mismatch(function, labels_name(operand), "Array or Range of Integers", labels);
  int64_t numbers[OF_MAX_LABELS];
  for (long i = 0; i < RARRAY_LEN(labels) && i < OF_MAX_LABELS; ++i) {
    const VALUE label = RARRAY_AREF(labels, i);
    if (RB_SYMBOL_P(label) && SYM2ID(label) == rest) {
      numbers[i] = OF_LABEL_ELLIPSIS;
      continue;
    }
    if (!RB_INTEGER_TYPE_P(label)) raise_mismatch(function, labels_name(operand), "Integers or :rest", label);
    const bool is_negative = RTEST(rb_funcall(label, '<', 1, INT2FIX(0)));
    numbers[i] = RB_FIXNUM_P(label) ? RB_FIX2LONG(label) : is_negative ? -INT64_MAX : INT64_MAX;
  }
  char term[OF_TERM_SIZE];
  check(of_label_term(function, operand, numbers, count, term));
  rb_str_cat_cstr(equation, term);
  RB_GC_GUARD(labels);
}

}  // namespace

void read_labels(CallSite* site) {
  if (site->count == 0 || !is_tensor(site->values[0])) return;
  const char* function = site->function->function.name;
  const VALUE equation = rb_utf8_str_new_cstr("");
  const VALUE arguments = rb_ary_new_from_args(1, equation);
  int at = 0;
  for (; at + 1 < site->count; at += 2) {
    const VALUE operand = site->values[at];
    if (!is_tensor(operand)) raise_mismatch(function, rb_sprintf("operand %d", at / 2), "Tensor", operand);
    if (at > 0) rb_str_cat_cstr(equation, ",");
    add_labels(function, at / 2, site->values[at + 1], equation);
    rb_ary_push(arguments, operand);
  }
  if (at < site->count) {
    if (is_tensor(site->values[at]))
      raise(OF_TYPE_MISMATCH, "%s: operand %d must be followed by its labels", function, at / 2);
    rb_str_cat_cstr(equation, "->");
    add_labels(function, kResult, site->values[at], equation);
  }
  site->kept = arguments;
  site->values = RARRAY_CONST_PTR(arguments);
  site->count = static_cast<int>(RARRAY_LEN(arguments));
}

}  // namespace oneflow::ruby
