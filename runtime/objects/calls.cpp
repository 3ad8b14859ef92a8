// The C API: calls of methods of objects.
#include <oneflow/front_end.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "objects/binder.h"
#include "objects/guard.h"
#include "objects/results.h"

using namespace oneflow;
using namespace oneflow::objects;

struct of_bound_call_object {
  of_bound_call_object(const of_method& called, const of_language& language, void* context,
                       const of_class* object_class, void* receiver)
      : method(called), self_class(object_class), self(receiver), results(store.memory, called, language, context) {
    if (self_class)
      store.keep(self_class, self);
    else if (self)
      store.keep(static_cast<of_tensor>(self));
  }

  // Keeps what data refers to, in place.
  of_status keep(of_data& data) {
    if (data.kind == OF_DATA_TENSOR) {
      of_tensor clone = nullptr;
      if (const of_status status = of_tensor_lazy_clone(data.as.tensor, &clone)) return status;
      store.tensors.push_back(clone);
      data.as.tensor = clone;
    } else if (data.kind == OF_DATA_OBJECT) {
      data.as.object = present(data.of.object, data.as.object);
    } else if (data.kind == OF_DATA_LIST || data.kind == OF_DATA_MAP || data.kind == OF_DATA_ARGUMENTS) {
      for (of_data& item : std::span(const_cast<of_data*>(data.as.items), data.count))
        if (const of_status status = keep(item)) return status;
    }
    return OF_OK;
  }
  // Returns an object in the present state of another one, or that itself.
  void* present(const of_class* object_class, void* object) {
    if (!object_class->snapshot) return object;
    return store.objects.emplace_back(object_class, object_class->snapshot(object)).second;
  }

  Store store;
  const of_method& method;
  const of_class* const self_class;
  void* self;
  of_data* arguments = nullptr;
  Results results;
};

namespace {

// Returns the entry of a name in a sorted table, or NULL.
template <class T>
const T* find(std::span<const T> table, const char* name) {
  const auto is_less = [](const T& entry, const char* wanted) { return std::strcmp(entry.name, wanted) < 0; };
  const auto found = std::lower_bound(table.begin(), table.end(), name, is_less);
  return found != table.end() && std::strcmp(found->name, name) == 0 ? &*found : nullptr;
}

}  // namespace

const of_class* of_class_find(const char* name) { return name ? find(class_table, name) : nullptr; }

of_implementation of_implementation_find(const char* name) { return name ? find(implementation_table, name) : nullptr; }

of_status of_bind(const of_method* method, const of_language* language, void* context, const of_class* object_class,
                  void* self, const of_native* values, size_t count, const char* const* names, size_t name_count,
                  of_bound_call* result) {
  return guard_language([&] {
    auto call = std::make_unique<of_bound_call_object>(*method, *language, context, object_class, self);
    Binder binder(method->name, {method->parameters, method->parameter_count}, *language, context, call->store);
    call->arguments = binder.bind({{values, count}, {names, name_count}, values + count});
    binder.require_accepted();
    *result = call.release();
  });
}

of_status of_bound_call_keep(of_bound_call call) {
  return guard([&] {
    if (call->self_class) call->self = call->present(call->self_class, call->self);
    for (of_data& data : std::span(call->arguments, call->method.parameter_count))
      if (call->keep(data) != OF_OK) throw Error(OF_INTERNAL_ERROR, of_last_error());
  });
}

of_work of_bound_call_work(of_bound_call call) {
  const auto work = call->method.implementation->work;
  return work && call->store.functions.empty() ? work(call->self, call->arguments) : OF_WORK_SHORT;
}

of_status of_bound_call_run(of_bound_call call) {
  of_status failed = OF_OK;
  const of_status status = guard([&] {
    try {
      failed = call->method.implementation->function(call->self, call->arguments, call->results);
    } catch (const Failed& failure) {
      failed = failure.status;
    } catch (const Raised&) {
      failed = OF_INTERRUPTED;
    }
  });
  if (status != OF_OK) return status;
  // The program has called the method, and not the function of the C API that the text names.
  if (failed != OF_OK && std::strncmp(of_last_error(), "of_", 3) == 0) of_error_set_caller(call->method.name);
  return failed;
}

const of_data* of_bound_call_result(of_bound_call call) { return &call->results.given(); }

const char* of_bound_call_warning(of_bound_call call) { return call->results.warning(); }

void of_bound_call_release(of_bound_call call) { delete call; }
