// The table of the functions that liboneflow offers to libraries of operators.
#include "library/table.h"

#include "dispatch/operator.h"

namespace oneflow {

namespace {

const Operator& find(const char* name) {
  if (const Operator* found = find_operator(name)) return *found;
  fail(OF_UNSUPPORTED, "there is no operator '%s'", name);
}

void fail_with_text(of_status status, const char* text) { fail(status, "%s", text); }

constexpr LibraryHost make_table() {
  LibraryHost table{};
#define OF_SET(result, name, parameters, arguments) table.name = name;
  OF_LIBRARY_FUNCTIONS(OF_SET)
#undef OF_SET
  table.destroy_tensor = [](Tensor& tensor) { tensor.destroy(); };
  table.find = find;
  table.note_write = ForeseenWrites::note;
  table.repeated = AxisNumbers::repeated;
  table.regrouped = AxisNumbers::regrouped;
  table.fail = fail_with_text;
  table.fail_with_texts = fail_with_texts;
  return table;
}

}  // namespace

constinit const LibraryHost library_host = make_table();

}  // namespace oneflow
