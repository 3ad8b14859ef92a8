// What all code that asks a language about its values needs.
#ifndef ONEFLOW_OBJECTS_LANGUAGE_H_
#define ONEFLOW_OBJECTS_LANGUAGE_H_

#include <string>
#include <string_view>

#include "base/characters.h"
#include "objects/function.h"

namespace oneflow::objects {

// Throws Raised if a function of the language has failed.
inline void check_language(of_status status) {
  if (status != OF_OK) throw Raised();
}

// Returns a text in quotes as error texts show it.
inline std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }
// Returns a value as the language prints it, in one line as error texts show it.
std::string printed(const of_language& language, void* context, of_native value);

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_LANGUAGE_H_
