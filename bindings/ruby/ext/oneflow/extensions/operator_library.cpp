#include "extensions/operator_library.h"

#include <oneflow/operator_library.h>

#include <algorithm>
#include <atomic>

#include "calls/call.h"
#include "calls/define.h"
#include "errors.h"
#include "memory.h"
#include "tensor/convert.h"

namespace oneflow::ruby {
namespace {

// A method of a library's module, which is also its in-place form.
struct Method {
  ID name;
  const Function* function;
  bool in_place;
};

// A library whose module is defined. It lives as long as the process, and is not changed any more: several Ractors may
// read it.
struct Library {
  const of_operator_library* info;
  VALUE module;
  Method* methods;  // sorted by name
  size_t count;
  const Library* next;
};

std::atomic<const Library*> libraries{nullptr};
VALUE ops;

const Library* find_library(const of_operator_library* info) {
  const Library* each = libraries.load(std::memory_order_acquire);
  while (each && each->info != info) each = each->next;
  return each;
}

bool precedes(const Method& method, ID name) { return method.name < name; }

// Every function of a library: Ruby tells the name of the method that was called, and its module.
VALUE call_method(int count, VALUE* values, VALUE self) {
  const ID name = rb_frame_this_func();
  for (const Library* each = libraries.load(std::memory_order_acquire); each; each = each->next) {
    if (each->module != self) continue;
    const Method* end = each->methods + each->count;
    const Method* found = std::lower_bound(static_cast<const Method*>(each->methods), end, name, precedes);
    if (found == end || found->name != name) break;
    return found->in_place ? call_on_list(*found->function, count, values)
                           : call_function(*found->function, count, values, Qundef);
  }
  raise(OF_UNSUPPORTED, "%s: not a function of a library of operators", rb_id2name(name));
}

// Defines the module of a library, with its functions.
const Library* define_module(const of_operator_library* info) {
  const of_library_language* language = of_library_find_language(info, "ruby");
  if (!language) raise(OF_UNSUPPORTED, "load_library: the library has nothing for Ruby");
  auto* library = static_cast<Library*>(ruby_xcalloc(1, sizeof(Library)));
  auto* functions = static_cast<Function*>(ruby_xcalloc(language->function_count, sizeof(Function)));
  library->info = info;
  library->methods = static_cast<Method*>(ruby_xcalloc(2 * size_t{language->function_count}, sizeof(Method)));
  library->module = rb_define_module_under(ops, language->name_space);
  for (uint32_t i = 0; i < language->function_count; ++i) {
    const of_library_function& record = language->functions[i];
    Function& function = functions[i];
    function.function = record.function;
    function.keywords = Qnil;
    prepare_function(function);
    library->methods[library->count++] = {rb_intern(record.name), &function, false};
    if (record.in_place_name) library->methods[library->count++] = {rb_intern(record.in_place_name), &function, true};
  }
  std::sort(library->methods, library->methods + library->count,
            [](const Method& a, const Method& b) { return a.name < b.name; });
  library->next = libraries.load(std::memory_order_relaxed);
  libraries.store(library, std::memory_order_release);
  for (size_t i = 0; i < library->count; ++i)
    rb_define_singleton_method(library->module, rb_id2name(library->methods[i].name), call_method, -1);
  return library;
}

VALUE load_library(VALUE, VALUE path) {
  const char* file = path_of("load_library", &path);
  const of_operator_library* info = nullptr;
  check(run_native(true, [&] { return of_load_library(file, &info); }));
  RB_GC_GUARD(path);
  const Library* known = find_library(info);
  return (known ? known : define_module(info))->module;
}

}  // namespace

void define_operator_libraries(VALUE module) {
  ops = rb_define_module_under(module, "Ops");
  rb_define_singleton_method(module, "load_library", load_library, 1);
}

}  // namespace oneflow::ruby
