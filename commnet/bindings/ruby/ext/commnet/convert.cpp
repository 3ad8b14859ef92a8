#include "convert.h"

#include <cmath>
#include <cstring>

#include "errors.h"

namespace commnet::ruby {

uint64_t unsigned_of(const char* name, VALUE value, uint64_t most) {
  if (!RB_INTEGER_TYPE_P(value)) raise_type(name, "Integer", value);
  uint64_t number = 0;
  const int sign = rb_integer_pack(value, &number, 1, sizeof number, 0, INTEGER_PACK_NATIVE_BYTE_ORDER);
  if (sign < 0 || sign > 1 || number > most)
    raise(CN_INVALID_ARGUMENT, "%s must be from 0 to %llu, got %" PRIsVALUE, name,
          static_cast<unsigned long long>(most), rb_inspect(value));
  return number;
}

uint32_t duration_of(const char* name, VALUE seconds, uint32_t per_second) {
  if (NIL_P(seconds)) return 0;
  if (!RTEST(rb_obj_is_kind_of(seconds, rb_cNumeric)) || RB_TYPE_P(seconds, T_COMPLEX))
    raise_type(name, "a number of seconds", seconds);
  const double units = std::ceil(NUM2DBL(seconds) * per_second);
  if (!(units >= 0)) raise(CN_INVALID_ARGUMENT, "%s must be at least 0, got %" PRIsVALUE, name, rb_inspect(seconds));
  return units >= UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(units);
}

uint32_t timeout_of(VALUE seconds) {
  if (NIL_P(seconds)) return 0;
  const uint32_t milliseconds = duration_of("timeout", seconds, 1000);
  if (milliseconds == UINT32_MAX) return 0;
  return milliseconds == 0 ? 1 : milliseconds;
}

void require_string(const char* name, VALUE value) {
  if (!RB_TYPE_P(value, T_STRING)) raise_type(name, "String", value);
}

const char* text_of(const char* name, VALUE value) {
  if (NIL_P(value)) return nullptr;
  require_string(name, value);
  if (memchr(RSTRING_PTR(value), 0, RSTRING_LEN(value)))
    raise(CN_INVALID_ARGUMENT, "%s must not contain null bytes", name);
  return StringValueCStr(value);
}

}  // namespace commnet::ruby
