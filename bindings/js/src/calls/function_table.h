// The table of public functions, which the generator defines in generated/function_table.cpp.
#pragma once

#include <oneflow/objects.h>

#include <span>

namespace oneflow::node {

// The functions in the order of generated/functions.js: JavaScript refers to them by their position.
extern const std::span<const of_public_function> function_table;

// Returns a function of the table, or of a library of operators: these have the numbers after those of the table.
const of_public_function& function_at(int64_t number);

}  // namespace oneflow::node
