// Libraries of operators: their functions, which lib/operatorLibrary.js makes of the tables that a library has.
#include <oneflow/autograd.h>
#include <oneflow/front_end.h>
#include <oneflow/operator_library.h>

#include <sstream>

#include "classes/language.h"
#include "functions.h"
#include "task.h"

namespace oneflow::node {
namespace {

using Arguments = std::unique_ptr<of_arguments, decltype(&of_arguments_release)>;

// Throws the exception of a failure: that which is pending, if code of the program has thrown it.
void check(Environment& environment, of_status status) {
  if (status == OF_INTERRUPTED && environment.env().IsExceptionPending())
    throw environment.env().GetAndClearPendingException();
  environment.check(status);
}

const of_library_function& record_of(const Call& call) { return *call.external<of_library_function>(0); }

of_manner manner_of(const Call& call) { return call.boolean(1) ? OF_CALLED_IN_PLACE : OF_CALLED_AS_FUNCTION; }

// Binds the arguments of a call: from the position 3 on, of which the last ones have the names in the array before
// them. The context must outlive them.
Arguments bind(const Call& call, CallContext& context) {
  const std::vector<std::string> texts = call.strings(2);
  std::vector<const char*> names;
  for (const std::string& text : texts) names.push_back(text.c_str());
  std::vector<of_native> values;
  for (size_t i = 3; i < call.Length(); ++i) values.push_back(static_cast<napi_value>(call[i]));
  of_arguments* arguments = nullptr;
  check(call.environment(),
        of_bind_function(&record_of(call).function, manner_of(call), &javascript, &context, values.data(),
                         values.size() - names.size(), names.data(), names.size(), &arguments));
  return {arguments, of_arguments_release};
}

size_t count_of(const of_overload& overload) { return static_cast<size_t>(overload.parameter_count); }
size_t result_count_of(const of_overload& overload) { return static_cast<size_t>(overload.result_count); }

// Returns a tensor, of which it takes ownership, as an object.
Napi::Value wrap(Environment& environment, of_tensor tensor) {
  return environment.host().wrap_tensor(environment.put(tensor));
}

// Gives an array of results their names, where they have some.
Napi::Value with_names(Napi::Array results, const of_overload& overload) {
  std::istringstream names(overload.result_names != nullptr ? overload.result_names : "");
  std::string name;
  for (uint32_t i = 0; names >> name; ++i)
    if (name != "_") results.Set(name, results.Get(i));
  return results;
}

// Returns the new results of a call, and takes ownership of them.
Napi::Value new_results(Environment& environment, const of_overload& overload, of_value* results) {
  const Napi::Env env = environment.env();
  if (overload.gives_list) {
    auto tensors = array_of(env, static_cast<size_t>(results[0].count),
                            [&](uint32_t i) { return wrap(environment, of_tensor_retain(results[0].as.tensors[i])); });
    of_value_release(&results[0]);
    return tensors;
  }
  const auto take = [&](uint32_t i) { return wrap(environment, std::exchange(results[i].as.tensor, nullptr)); };
  return overload.result_count == 1 ? take(0) : with_names(array_of(env, result_count_of(overload), take), overload);
}

Napi::Value value_of(Environment& environment, of_native native) {
  return {environment.env(), static_cast<napi_value>(native)};
}

// Returns the tensors of the caller that a call has written to; an empty value if there are none.
Napi::Value written(Environment& environment, const of_arguments& arguments, bool in_place) {
  const of_overload& overload = *arguments.overload;
  const int32_t position = in_place ? overload.replaced : overload.written;
  if (position >= 0 && arguments.is_given[position]) {
    const Napi::Value given = value_of(environment, arguments.natives[position]);
    if (!in_place || given.IsArray()) return given;
    auto list = Napi::Array::New(environment.env(), 1);
    list.Set(0u, given);
    return list;
  }
  const bool is_several = arguments.output_count != 0 && overload.result_count != 1;
  if (position < 0 && !is_several)
    return arguments.output_count != 0 ? value_of(environment, arguments.out) : Napi::Value();
  const of_native* items = position >= 0 ? arguments.items : arguments.outputs;
  return array_of(environment.env(), position >= 0 ? arguments.item_count : arguments.output_count,
                  [&](uint32_t i) { return value_of(environment, items[i]); });
}

// callLibrary(function, inPlace, names, ...arguments): returns the result.
Napi::Value call_library(const Call& call) {
  Environment& environment = call.environment();
  CallContext context(environment);
  const Arguments arguments = bind(call, context);
  const of_overload& overload = *arguments->overload;
  const of_status status = of_call(of_op_find(overload.op), arguments->values, count_of(overload), arguments->results,
                                   result_count_of(overload));
  const bool in_place = manner_of(call) == OF_CALLED_IN_PLACE;
  const of_public_function& names = record_of(call).function;
  if (status != OF_OK) of_error_set_caller(in_place ? names.in_place_name : names.name);
  check(environment, status);
  if (const Napi::Value own = written(environment, *arguments, in_place); !own.IsEmpty()) {
    if (overload.written >= 0) of_value_release(&arguments->results[0]);
    return own;
  }
  if (arguments->requires_grad) check(environment, of_tensor_set_requires_grad(arguments->results[0].as.tensor, true));
  return new_results(environment, overload, arguments->results);
}

// A call on a worker thread, with the values that the arguments have when it is made.
class LibraryTask : public Task {
 public:
  LibraryTask(Environment& environment, const char* caller) : caller_(caller), context_(environment) {}
  ~LibraryTask() override {
    for (of_value& result : results_) of_value_release(&result);
  }

  CallContext& context() { return context_; }

  // Takes bound arguments, and keeps the present elements of the tensors among them.
  of_status take(Arguments arguments) {
    arguments_ = std::move(arguments);
    const of_overload& overload = *arguments_->overload;
    op_ = of_op_find(overload.op);
    values_.assign(arguments_->values, arguments_->values + count_of(overload));
    results_.assign(result_count_of(overload), of_value{});
    for (of_value& value : values_) {
      if (value.kind == OF_VALUE_TENSOR) {
        if (const of_status status = hold(&value.as.tensor)) return status;
      } else if (value.kind == OF_VALUE_TENSOR_LIST) {
        auto& list = lists_.emplace_back(value.as.tensors, value.as.tensors + value.count);
        value.as.tensors = list.data();
        for (of_tensor& item : list)
          if (const of_status status = item != nullptr ? hold(&item) : OF_OK) return status;
      }
    }
    return OF_OK;
  }

  of_status run() override {
    const of_status status = of_call(op_, values_.data(), values_.size(), results_.data(), results_.size());
    if (status != OF_OK) of_error_set_caller(caller_);
    return status;
  }

  Napi::Value finish(Environment& environment) override {
    Napi::Value found = new_results(environment, *arguments_->overload, results_.data());
    results_.clear();
    return found;
  }

 private:
  of_status hold(of_tensor* tensor) {
    const of_status status = held_.emplace_back().snapshot(*tensor);
    *tensor = held_.back().get();
    return status;
  }

  const char* const caller_;
  CallContext context_;
  Arguments arguments_{nullptr, of_arguments_release};
  of_op op_ = nullptr;
  std::vector<of_value> values_, results_;
  std::vector<std::vector<of_tensor>> lists_;
  std::vector<Held> held_;
};

// callLibraryAsync(function, false, names, ...arguments): returns a promise of the result.
Napi::Value call_library_async(const Call& call) {
  Environment& environment = call.environment();
  auto task = std::make_unique<LibraryTask>(environment, record_of(call).function.name);
  check(environment, task->take(bind(call, task->context())));
  return Task::start(std::move(task), environment);
}

Napi::Value text_or_null(Napi::Env env, const char* text) {
  return text != nullptr ? Napi::Value::From(env, text) : env.Null();
}

Napi::Object describe(Napi::Env env, const of_library_function& function) {
  auto found = Napi::Object::New(env);
  found.Set("function", Napi::External<of_library_function>::New(env, const_cast<of_library_function*>(&function)));
  found.Set("fullName", function.function.name);
  found.Set("name", function.name);
  found.Set("inPlaceName", text_or_null(env, function.in_place_name));
  found.Set("promiseName", text_or_null(env, function.promise_name));
  return found;
}

// loadLibrary(path): returns the path of the library without symbolic links, its namespace, the names of the runtime
// with those in JavaScript, and its functions.
Napi::Value load_library(const Call& call) {
  const of_operator_library* library = nullptr;
  call.check(of_load_library(call.string(0).c_str(), &library));
  const of_library_language* language = of_library_find_language(library, "js");
  const Napi::Env env = call.Env();
  if (language == nullptr)
    throw call.environment().make_error(OF_UNSUPPORTED, "loadLibrary: the library has nothing for Node.js");
  auto found = Napi::Object::New(env);
  found.Set("path", library->path);
  found.Set("nameSpace", language->name_space);
  found.Set("words", language->words != nullptr ? language->words : "");
  found.Set("functions",
            array_of(env, language->function_count, [&](uint32_t i) { return describe(env, language->functions[i]); }));
  return found;
}

}  // namespace

void add_operator_library_functions(Exports& exports) {
  exports.add<load_library>("loadLibrary");
  exports.add<call_library>("callLibrary");
  exports.add<call_library_async>("callLibraryAsync");
}

}  // namespace oneflow::node
