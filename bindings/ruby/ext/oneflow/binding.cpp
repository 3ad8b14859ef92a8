#include "binding.h"

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "tensor.h"

namespace oneflow::ruby {
namespace {

// Why an overload did not take a call. Texts are only written for the failure that is raised in the end.
struct Failure {
  enum Reason { kUnknownArgument, kTooMany, kMissing, kTwice, kType } reason;
  const Argument* argument;  // of the last three
  int progress;              // how far the overload got
  VALUE value;               // kType: what was given
  int member;                // kType: its place in the list that the argument is, or -1
};

constexpr Argument kOut = {"out", "Tensor", ArgumentType::kTensor, false, false, false, false, true, 0};
constexpr Argument kOuts = {"out", "Array of Tensors", ArgumentType::kTensor, true, false, false, false, true, 0};

VALUE out_symbol() {
  static const ID id = rb_intern("out");
  return ID2SYM(id);
}

VALUE keyword(VALUE keywords, VALUE symbol) {
  return NIL_P(keywords) ? Qundef : rb_hash_lookup2(keywords, symbol, Qundef);
}

// Whether the positional arguments from here on are the members of one list: f(1, 2) for f([1, 2]).
bool spreads(const Overload& overload, const Argument& argument, int left) {
  return argument.is_list && left > 1 && &argument == &overload.arguments[overload.positional_count - 1];
}

bool is_out(const Overload& overload, VALUE out) {
  if (overload.result_count == 1) return is_tensor(out);
  if (!RB_TYPE_P(out, T_ARRAY) || RARRAY_LEN(out) != overload.result_count) return false;
  for (int i = 0; i < overload.result_count; ++i) {
    if (!is_tensor(RARRAY_AREF(out, i))) return false;
  }
  return true;
}

// Binds one overload. The progress of a failure counts the arguments that fitted, doubled, and one more for an argument
// that was there but of another type: such an overload was nearer than one that takes no argument in this place.
bool bind_overload(const CallSite& site, const Overload& overload, BoundCall* call, Failure* failure) {
  call->converter.reset();
  int used = 0;      // positional arguments
  long matched = 0;  // keywords
  for (int i = 0; i < overload.argument_count; ++i) {
    const Argument& argument = overload.arguments[i];
    of_value* result = &call->arguments[i];
    const VALUE* positional = nullptr;
    int count = 0;
    if (site.receiver != Qundef && i == overload.receiver) {
      positional = &site.receiver;
      count = 1;
    } else if (!argument.keyword_only && used < site.count) {
      positional = site.values + used;
      count = spreads(overload, argument, site.count - used) ? site.count - used : 1;
      used += count;
    }
    VALUE named = keyword(site.keywords, argument.symbol);
    if (named != Qundef) {
      ++matched;
      if (positional) return *failure = {Failure::kTwice, &argument, 2 * i, named, -1}, false;
      positional = &named;
      count = 1;
    }
    call->given[i] = count == 1 ? *positional : Qundef;
    if (!positional) {
      if (argument.required) return *failure = {Failure::kMissing, &argument, 2 * i, Qundef, -1}, false;
      result->kind = OF_VALUE_ABSENT;
      continue;
    }
    Converter& converter = call->converter;
    if (!(count == 1 ? converter.convert(argument, *positional, result)
                     : converter.convert_members(argument, positional, count, result))) {
      *failure = {Failure::kType, &argument, 2 * i + 1, converter.wrong_value(), converter.wrong_member()};
      return false;
    }
  }
  const int progress = 2 * overload.argument_count;
  if (used < site.count)
    return *failure = {Failure::kTooMany, nullptr, 2 * overload.positional_count, Qundef, -1}, false;
  call->out = overload.has_out && !site.in_place ? keyword(site.keywords, out_symbol()) : Qundef;
  if (call->out != Qundef) {
    ++matched;
    if (NIL_P(call->out)) {
      call->out = Qundef;
    } else if (!is_out(overload, call->out)) {
      const Argument* argument = overload.result_count == 1 ? &kOut : &kOuts;
      return *failure = {Failure::kType, argument, progress + 1, call->out, -1}, false;
    }
  }
  if (!NIL_P(site.keywords) && matched < static_cast<long>(RHASH_SIZE(site.keywords))) {
    return *failure = {Failure::kUnknownArgument, nullptr, progress, Qundef, -1}, false;
  }
  call->overload = &overload;
  return true;
}

// ---------------------------------------------------------------- error texts

constexpr size_t kLongestName = 64;

// How many letters must be inserted, removed or replaced to make one name of another.
size_t edit_distance(const char* a, size_t a_length, const char* b, size_t b_length) {
  size_t row[kLongestName + 1];
  for (size_t j = 0; j <= b_length; ++j) row[j] = j;
  for (size_t i = 1; i <= a_length; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b_length];
}

// Some of the overloads of a function.
struct Overloads {
  const Overload* begin;
  int count;
  bool in_place;  // a form that takes no `out:`
};

// The keyword of any overload that is nearest to the name; NULL when none is near.
const char* nearest_keyword(const Overloads& overloads, const char* name, size_t length) {
  if (length > kLongestName) return nullptr;
  const char* nearest = nullptr;
  size_t best = std::max<size_t>(1, length / 3) + 1;
  for (int o = 0; o < overloads.count; ++o) {
    const Overload& overload = overloads.begin[o];
    for (int i = 0; i < overload.argument_count + (overload.has_out && !overloads.in_place); ++i) {
      const char* candidate = i < overload.argument_count ? overload.arguments[i].name : kOut.name;
      size_t distance = edit_distance(name, length, candidate, std::min(strlen(candidate), kLongestName));
      if (distance < best) {
        best = distance;
        nearest = candidate;
      }
    }
  }
  return nearest;
}

bool is_known(const Overloads& overloads, VALUE symbol) {
  for (int o = 0; o < overloads.count; ++o) {
    const Overload& overload = overloads.begin[o];
    if (overload.has_out && !overloads.in_place && symbol == out_symbol()) return true;
    for (int i = 0; i < overload.argument_count; ++i) {
      if (overload.arguments[i].symbol == symbol) return true;
    }
  }
  return false;
}

struct KeywordSearch {
  Overloads overloads;
  VALUE unknown;
};

int find_unknown_keyword(VALUE key, VALUE, VALUE context) {
  KeywordSearch* search = reinterpret_cast<KeywordSearch*>(context);
  if (is_known(search->overloads, key)) return ST_CONTINUE;
  search->unknown = key;
  return ST_STOP;
}

// The first keyword that none of the overloads takes, or Qundef.
VALUE unknown_keyword(const Overloads& overloads, VALUE keywords) {
  KeywordSearch search = {overloads, Qundef};
  if (!NIL_P(keywords)) {
    rb_hash_foreach(keywords, find_unknown_keyword, reinterpret_cast<VALUE>(&search));
  }
  return search.unknown;
}

[[noreturn]] void raise_unknown(const Function& function, const Overloads& overloads, VALUE keyword) {
  VALUE name = rb_obj_as_string(keyword);
  const char* nearest = nearest_keyword(overloads, RSTRING_PTR(name), RSTRING_LEN(name));
  if (!nearest) raise(OF_TYPE_MISMATCH, "%s: unknown argument %" PRIsVALUE, function.name, name);
  raise(OF_TYPE_MISMATCH, "%s: unknown argument %" PRIsVALUE "; did you mean %s?", function.name, name, nearest);
}

[[noreturn]] void raise_failure(const CallSite& site, const Overload& overload, const Failure& failure) {
  const Function& function = *site.function;
  switch (failure.reason) {
    case Failure::kTooMany: {
      int most = overload.positional_count - (site.receiver != Qundef && overload.receiver < overload.positional_count);
      raise(OF_TYPE_MISMATCH, "%s: takes at most %d positional argument%s, got %d", function.name, most,
            most == 1 ? "" : "s", site.count);
    }
    case Failure::kMissing:
      raise(OF_TYPE_MISMATCH, "%s: missing argument %s", function.name, failure.argument->name);
    case Failure::kTwice:
      raise(OF_TYPE_MISMATCH, "%s: argument %s given twice", function.name, failure.argument->name);
    case Failure::kType:
      if (failure.member >= 0) {
        raise(OF_TYPE_MISMATCH, "%s: %s[%d] must be %s, got %" PRIsVALUE, function.name, failure.argument->name,
              failure.member, failure.argument->type == ArgumentType::kTensor ? "Tensor" : "Integer",
              type_description(failure.value));
      }
      raise(OF_TYPE_MISMATCH, "%s: %s must be %s, got %" PRIsVALUE, function.name, failure.argument->name,
            failure.argument->expected, type_description(failure.value));
    case Failure::kUnknownArgument:
      break;
  }
  // Known to another overload, or it would have been raised before.
  raise(OF_TYPE_MISMATCH, "%s: unknown argument %" PRIsVALUE, function.name,
        rb_obj_as_string(unknown_keyword({&overload, 1, site.in_place}, site.keywords)));
}

}  // namespace

void bind(const CallSite& site, BoundCall* call) {
  const Function& function = *site.function;
  const Overload* furthest = nullptr;
  Failure failure = {}, nearest = {};
  for (int o = 0; o < function.overload_count; ++o) {
    const Overload& overload = function.overloads[o];
    if (site.receiver != Qundef && overload.receiver < 0) continue;
    if (site.in_place && !overload.in_place) continue;
    if (bind_overload(site, overload, call, &failure)) return;
    if (!furthest || failure.progress > nearest.progress) {
      furthest = &overload;
      nearest = failure;
    }
  }
  const Overloads overloads = {function.overloads, function.overload_count, site.in_place};
  VALUE unknown = unknown_keyword(overloads, site.keywords);
  if (unknown != Qundef) raise_unknown(function, overloads, unknown);
  raise_failure(site, *furthest, nearest);
}

}  // namespace oneflow::ruby
