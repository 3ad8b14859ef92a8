#include "binding.h"

#include <oneflow/front_end.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "errors.h"
#include "tensor.h"

namespace oneflow::ruby {
namespace {

// The reason why an overload does not accept a call. The error text is only formatted for the failure that is raised.
struct Failure {
  enum Reason { kTooMany, kMissing, kTwice, kUnknown, kType } reason;
  int rank;                  // among the overloads that refuse a call: see of_refusal_rank()
  const Argument* argument;  // kMissing, kTwice, kType
  VALUE value;               // kUnknown: the keyword; kType: the value of the wrong type
  int item;                  // kType: the index of the value in a list argument, or -1
  const char* nearest;       // kUnknown: the name to suggest, or NULL
};

bool fail(Failure* failure, const Failure& found) {
  *failure = found;
  return false;
}

// The source of an argument's value: one or more of the call's positional arguments, or the value of a keyword.
struct Source {
  const VALUE* values;
  int count;    // 0: the argument was not given
  VALUE named;  // the keyword's value, to which `values` then points
};

constexpr Argument kOut = {"out", "Tensor", nullptr, ArgumentType::kTensor, false, false, false, true, false, 0};
constexpr Argument kOuts = {
    "out", "Array of Tensors", "Tensor", ArgumentType::kTensor, false, false, false, true, false, 0};

constexpr Argument kRequiresGrad = {"requires_grad", "bool", nullptr, ArgumentType::kBool, true, false, false, true,
                                    false,           0};

const Argument& out_of(const Overload& overload) { return overload.result_count == 1 ? kOut : kOuts; }

bool takes_out(const CallSite& site, const Overload& overload) { return overload.has_out && !site.in_place; }

VALUE out_symbol() {
  static const ID id = rb_intern("out");
  return ID2SYM(id);
}

VALUE requires_grad_symbol() {
  static const ID id = rb_intern("requires_grad");
  return ID2SYM(id);
}

VALUE keyword(VALUE keywords, VALUE symbol) { return rb_hash_lookup2(keywords, symbol, Qundef); }

// Returns whether the `left` remaining positional arguments are the items of one list argument: f(1, 2) for f([1, 2]).
// An Array is an item only where it may stand for a tensor, among other Arrays and tensors.
bool spreads(const Overload& overload, const Argument& argument, const VALUE* values, int left) {
  if (!argument.is_list() || left < 2 || &argument != &overload.arguments[overload.positional_count - 1]) return false;
  if (!RB_TYPE_P(values[0], T_ARRAY)) return true;
  const auto may_be_tensor = [](VALUE value) { return RB_TYPE_P(value, T_ARRAY) || is_tensor(value); };
  return argument.type == ArgumentType::kTensor && std::all_of(values, values + left, may_be_tensor);
}

// Returns whether `out` is a Tensor, or an Array of as many Tensors as there are results. Raises InvalidArgument for a
// tensor without a value, which has no memory to write to.
bool is_out(const char* function, const Overload& overload, VALUE out) {
  if (overload.result_count == 1) return is_tensor(out) && handle_of_argument(function, "out", out);
  if (!RB_TYPE_P(out, T_ARRAY) || RARRAY_LEN(out) != overload.result_count) return false;
  for (int i = 0; i < overload.result_count; ++i) {
    const VALUE item = RARRAY_AREF(out, i);
    if (!is_tensor(item) || !handle_of_argument(function, "out", item, i)) return false;
  }
  return true;
}

// ---------------------------------------------------------------- unknown keywords

// Returns a keyword as error texts show it: the bare name of a Symbol that needs no quotes, else the literal. A key
// such as the String in f("dim" => 1) does not name an argument.
VALUE printable_keyword(VALUE key) {
  const VALUE literal = rb_inspect(key);
  const bool is_plain = RB_SYMBOL_P(key) && RSTRING_PTR(literal)[1] != '"';
  return is_plain ? rb_sym2str(key) : literal;
}

// Returns the name that an unknown keyword most likely stands for, or NULL.
const char* nearest_argument(const CallSite& site, const Overload& overload, VALUE key) {
  if (!is_string_or_symbol(key)) return nullptr;
  const VALUE name = RB_SYMBOL_P(key) ? rb_sym2str(key) : key;
  const char* names[kMaxArguments + 2];
  size_t count = 0;
  for (int i = 0; i < overload.argument_count; ++i) names[count++] = overload.arguments[i].name;
  if (takes_out(site, overload)) names[count++] = "out";
  if (overload.makes_leaves) names[count++] = "requires_grad";
  const int32_t nearest = of_nearest_name(std::string(RSTRING_PTR(name), RSTRING_LEN(name)).c_str(), names, count);
  return nearest < 0 ? nullptr : names[nearest];
}

// Returns whether a Symbol is one of the names of an argument.
bool is_name_of(const Argument& argument, VALUE symbol) {
  const VALUE* end = argument.other_symbols + kMaxOtherNames;
  return argument.symbol == symbol || std::find(argument.other_symbols, end, symbol) != end;
}

struct KeywordSearch {
  const CallSite* site;
  const Overload* overload;
  VALUE unknown;  // the first unknown keyword
  int known;      // number of known keywords before it
};

int find_unknown_keyword(VALUE key, VALUE, VALUE context) {
  KeywordSearch* search = reinterpret_cast<KeywordSearch*>(context);
  const Overload& overload = *search->overload;
  bool is_known = (takes_out(*search->site, overload) && key == out_symbol()) ||
                  (overload.makes_leaves && key == requires_grad_symbol());
  for (int i = 0; i < overload.argument_count; ++i) is_known |= is_name_of(overload.arguments[i], key);
  if (is_known) {
    ++search->known;
    return ST_CONTINUE;
  }
  search->unknown = key;
  return ST_STOP;
}

bool fail_unknown(const CallSite& site, const Overload& overload, Failure* failure) {
  KeywordSearch search = {&site, &overload, Qnil, 0};
  rb_hash_foreach(site.keywords, find_unknown_keyword, reinterpret_cast<VALUE>(&search));
  const char* nearest = nearest_argument(site, overload, search.unknown);
  const int rank = of_refusal_rank(OF_REFUSAL_NAME, search.known, nearest != nullptr);
  return fail(failure, {Failure::kUnknown, rank, nullptr, search.unknown, -1, nearest});
}

// ---------------------------------------------------------------- one overload

// Assigns keywords that are other names of arguments, and returns how many there are. Sets `twice` to an argument that
// has a value already.
size_t find_other_names(const CallSite& site, const Overload& overload, Source* sources, const Argument** twice) {
  size_t found = 0;
  for (int i = 0; i < overload.argument_count; ++i) {
    for (const VALUE symbol : overload.arguments[i].other_symbols) {
      const VALUE value = symbol ? keyword(site.keywords, symbol) : Qundef;
      if (value == Qundef) continue;
      ++found;
      if (sources[i].count && !*twice) *twice = &overload.arguments[i];
      sources[i] = {&sources[i].named, 1, value};
    }
  }
  return found;
}

// The values of the keywords beside the arguments; Qundef for absent ones.
struct OwnKeywords {
  VALUE out = Qundef;
  VALUE requires_grad = Qundef;
};

// Finds the source of each argument and the values of the other keywords. The keyword lookup of an argument is skipped
// once all keywords are found.
bool find_sources(const CallSite& site, const Overload& overload, Source* sources, OwnKeywords* own, Failure* failure) {
  int used = 0;  // positional arguments
  size_t keywords_left = NIL_P(site.keywords) ? 0 : RHASH_SIZE(site.keywords);
  const Argument* twice = nullptr;
  const Argument* missing = nullptr;
  for (int i = 0; i < overload.argument_count; ++i) {
    const Argument& argument = overload.arguments[i];
    Source& source = sources[i];
    source.count = 0;
    if (site.receiver != Qundef && i == overload.receiver) {
      source.values = &site.receiver;
      source.count = 1;
    } else if (!argument.keyword_only && used < site.count) {
      source.values = site.values + used;
      source.count = spreads(overload, argument, source.values, site.count - used) ? site.count - used : 1;
      used += source.count;
    }
    if (keywords_left && (source.named = keyword(site.keywords, argument.symbol)) != Qundef) {
      --keywords_left;
      if (source.count && !twice) twice = &argument;
      source.values = &source.named;
      source.count = 1;
    }
  }
  if (keywords_left && takes_out(site, overload)) own->out = keyword(site.keywords, out_symbol());
  if (own->out != Qundef) --keywords_left;
  if (own->out == Qnil) own->out = Qundef;
  if (keywords_left && overload.makes_leaves) own->requires_grad = keyword(site.keywords, requires_grad_symbol());
  if (own->requires_grad != Qundef) --keywords_left;
  if (keywords_left) keywords_left -= find_other_names(site, overload, sources, &twice);
  for (int i = 0; i < overload.argument_count && !missing; ++i) {
    if (!sources[i].count && overload.arguments[i].required) missing = &overload.arguments[i];
  }

  if (used < site.count) {
    const int rank = of_refusal_rank(OF_REFUSAL_TOO_MANY, overload.positional_count, false);
    return fail(failure, {Failure::kTooMany, rank, nullptr, Qundef, -1, nullptr});
  }
  if (keywords_left) return fail_unknown(site, overload, failure);
  if (!twice && !missing) return true;
  const int names = NIL_P(site.keywords) ? 0 : static_cast<int>(RHASH_SIZE(site.keywords));
  const int rank = of_refusal_rank(OF_REFUSAL_ABSENT, names, false);
  if (twice) return fail(failure, {Failure::kTwice, rank, twice, Qundef, -1, nullptr});
  return fail(failure, {Failure::kMissing, rank, missing, Qundef, -1, nullptr});
}

bool bind_overload(const CallSite& site, const Overload& overload, BoundCall* call, Failure* failure) {
  Source sources[kMaxArguments];
  OwnKeywords own;
  if (!find_sources(site, overload, sources, &own, failure)) return false;
  call->out = own.out;
  Converter& converter = call->converter;
  converter.reset();
  for (int i = 0; i < overload.argument_count; ++i) {
    const Argument& argument = overload.arguments[i];
    const Source& source = sources[i];
    of_value* result = &call->arguments[i];
    const bool is_default = source.count == 1 && NIL_P(*source.values) && !argument.required && !argument.allows_nil;
    if (source.count == 0 || is_default) {
      call->given[i] = Qundef;
      result->kind = OF_VALUE_ABSENT;
      continue;
    }
    call->given[i] = source.count == 1 ? *source.values : Qundef;
    if (source.count > 1 && site.in_place) call->given[i] = rb_ary_new_from_values(source.count, source.values);
    if (!(source.count == 1 ? converter.convert(argument, *source.values, result)
                            : converter.convert_items(argument, source.values, source.count, result))) {
      // An unknown name more likely stands for a device than for a dtype. A wrong item ranks above a value that is not
      // a list at all.
      const bool is_device_name =
          argument.type == ArgumentType::kDevice && is_string_or_symbol(converter.wrong_value());
      const bool is_likely = is_device_name || converter.wrong_item() >= 0;
      const int rank = of_refusal_rank(OF_REFUSAL_VALUE, i, is_likely);
      return fail(failure, {Failure::kType, rank, &argument, converter.wrong_value(), converter.wrong_item(), nullptr});
    }
  }
  if (call->out != Qundef && !is_out(name_of_call(site), overload, call->out)) {
    const int rank = of_refusal_rank(OF_REFUSAL_VALUE, overload.argument_count, false);
    return fail(failure, {Failure::kType, rank, &out_of(overload), call->out, -1, nullptr});
  }
  call->requires_grad = own.requires_grad == Qtrue;
  if (!call->requires_grad && own.requires_grad != Qundef && RTEST(own.requires_grad)) {
    const int rank = of_refusal_rank(OF_REFUSAL_VALUE, overload.argument_count, false);
    return fail(failure, {Failure::kType, rank, &kRequiresGrad, own.requires_grad, -1, nullptr});
  }
  call->overload = &overload;
  return true;
}

// Returns the names of the arguments that are passed by name only, in an Array.
VALUE by_name_only(const Overload& overload) {
  const VALUE names = rb_ary_new();
  for (const Argument& argument : std::span(overload.arguments, static_cast<size_t>(overload.argument_count)))
    if (argument.keyword_only) rb_ary_push(names, rb_str_new_cstr(argument.name));
  return names;
}

[[noreturn]] void raise_failure(const CallSite& site, const Overload& overload, const Failure& failure) {
  const char* function = name_of_call(site);
  switch (failure.reason) {
    case Failure::kTooMany: {
      const bool bound = site.receiver != Qundef && overload.receiver < overload.positional_count;
      const int most = overload.positional_count - bound;
      raise_too_many(function, most, site.count, by_name_only(overload));
    }
    case Failure::kMissing:
      raise(OF_TYPE_MISMATCH, "%s: missing argument %s", function, failure.argument->name);
    case Failure::kTwice:
      raise(OF_TYPE_MISMATCH, "%s: argument %s given twice", function, failure.argument->name);
    case Failure::kUnknown:
      if (!failure.nearest)
        raise(OF_TYPE_MISMATCH, "%s: unknown argument %" PRIsVALUE, function, printable_keyword(failure.value));
      raise(OF_TYPE_MISMATCH, "%s: unknown argument %" PRIsVALUE "; did you mean %s?", function,
            printable_keyword(failure.value), failure.nearest);
    case Failure::kType:
      break;
  }
  const Argument& argument = *failure.argument;
  // For names that are not those of a dtype or a device, these functions raise the error that says so.
  if (argument.type == ArgumentType::kDType) dtype_of(function, argument.name, failure.value);
  const bool is_list_itself = argument.is_list() && failure.item < 0 && !is_string_or_symbol(failure.value);
  if (argument.type == ArgumentType::kDevice && failure.item < 0 && !is_list_itself)
    device_of(function, argument.name, failure.value);
  if (&argument == &kOuts) {
    raise(OF_TYPE_MISMATCH, "%s: out must be Array of %d Tensors, got %" PRIsVALUE, function, overload.result_count,
          type_description(failure.value));
  }
  if (failure.item < 0) {
    raise(OF_TYPE_MISMATCH, "%s: %s must be %s, got %" PRIsVALUE, function, argument.name, argument.expected,
          type_description(failure.value));
  }
  VALUE item = rb_sprintf("%s[%d]", argument.name, failure.item);
  if (argument.type == ArgumentType::kDevice) device_of(function, StringValueCStr(item), failure.value);
  raise(OF_TYPE_MISMATCH, "%s: %" PRIsVALUE " must be %s, got %" PRIsVALUE, function, item, argument.item,
        type_description(failure.value));
}

}  // namespace

namespace {

// Binds the call to the first overload that accepts the arguments, and returns whether there is one. Otherwise sets
// `furthest` and `nearest` to the overload whose binding progressed furthest, and its failure.
bool bind_first(const CallSite& site, BoundCall* call, const Overload** furthest, Failure* nearest) {
  const Function& function = *site.function;
  Failure failure = {};
  nearest->rank = -1;
  for (int o = 0; o < function.overload_count; ++o) {
    const Overload& overload = function.overloads[o];
    if (site.receiver != Qundef && overload.receiver < 0) continue;
    if (site.in_place && overload.replaced < 0) continue;
    if (bind_overload(site, overload, call, &failure)) return true;
    if (failure.rank > nearest->rank) {
      *furthest = &overload;
      *nearest = failure;
    }
  }
  return false;
}

// Returns the device of the first tensor among values, also within their Arrays; false if there is none.
bool find_device(const VALUE* values, long count, bool within_arrays, of_device* device) {
  for (long i = 0; i < count; ++i) {
    if (is_tensor(values[i]) && peek(values[i])) {
      *device = info_of(values[i]).device;
      return true;
    }
    if (!within_arrays || !RB_TYPE_P(values[i], T_ARRAY)) continue;
    if (find_device(RARRAY_CONST_PTR(values[i]), RARRAY_LEN(values[i]), false, device)) return true;
  }
  return false;
}

// Returns the device on which tensors are made of what stands for one: that of the first tensor among the arguments.
of_device device_of_call(const CallSite& site) {
  of_device device = of_default_device();
  if (site.receiver != Qundef && find_device(&site.receiver, 1, false, &device)) return device;
  if (find_device(site.values, site.count, true, &device) || NIL_P(site.keywords)) return device;
  VALUE named = rb_funcall(site.keywords, rb_intern("values"), 0);
  find_device(RARRAY_CONST_PTR(named), RARRAY_LEN(named), true, &device);
  RB_GC_GUARD(named);
  return device;
}

}  // namespace

void raise_too_many(const char* function, int most, int given, VALUE named) {
  VALUE hint = rb_str_new_cstr("");
  if (RARRAY_LEN(named) > 0) {
    const VALUE last = rb_ary_pop(named);
    const VALUE others = rb_ary_join(named, rb_str_new_cstr(", "));
    hint =
        rb_sprintf("; pass %" PRIsVALUE "%s%" PRIsVALUE " by name", others, RARRAY_LEN(named) > 0 ? " or " : "", last);
  }
  raise(OF_TYPE_MISMATCH, "%s: takes at most %d positional argument%s, got %d%" PRIsVALUE, function, most,
        most == 1 ? "" : "s", given, hint);
}

void bind(const CallSite& site, BoundCall* call) {
  const Overload* furthest = nullptr;
  Failure failure = {};
  if (bind_first(site, call, &furthest, &failure)) return;
  const bool writes_list = site.in_place && site.receiver == Qundef;
  if (failure.reason == Failure::kType && !writes_list) {
    call->converter.read_arrays(device_of_call(site));
    if (bind_first(site, call, &furthest, &failure)) return;
  }
  raise_failure(site, *furthest, failure);
}

}  // namespace oneflow::ruby
