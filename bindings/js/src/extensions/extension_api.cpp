// What native modules of users get: see oneflow/extension.h. lib/extensions/extension.js has the functions that look
// into objects.

#include <oneflow/extension.h>

#include <array>
#include <cstdio>
#include <initializer_list>

#include "functions.h"

namespace oneflow::node {

class ExtensionApi {
 public:
  ExtensionApi(Environment& environment, Napi::Array functions);
  of_extension_api& table() { return table_; }

 private:
  // The order of lib/extensions/extension.js.
  enum Function : uint32_t {
    ENTER,
    FIND_TENSOR,
    FIND_DEVICE,
    FIND_DTYPE,
    FIND_GENERATOR,  // clang-format off
    MAKE_TENSOR, MAKE_DEVICE, MAKE_DTYPE, MAKE_GENERATOR, DESCRIBE, COUNT  // clang-format on
  };

  // Calls `work` with the object behind a table. What it throws becomes the thread's failure.
  template <class Work>
  static of_status guarded(const of_extension_api* api, const Work& work);
  // Makes an exception of JavaScript the thread's failure, with the status of its class.
  static of_status fail_with(const Napi::Error& error);
  static napi_value value_of(of_object object) { return reinterpret_cast<napi_value>(object); }
  static of_object object_of(napi_value value) { return reinterpret_cast<of_object>(value); }

  Napi::Value call(Function function, std::initializer_list<napi_value> arguments) const {
    return functions_[function].Call(arguments);
  }
  // Finds what an argument holds: a slot, or the number of a device or a dtype.
  int32_t find(Function function, of_object object, const char* name, const char* argument) const;
  Napi::Number number(int32_t value) const { return Napi::Number::New(environment_.env(), value); }
  // Makes an object for a handle in a slot, which is released if that fails.
  napi_value make_owner(Function function, int32_t slot) const;

  Environment& environment_;
  of_extension_api table_;
  std::array<Napi::FunctionReference, COUNT> functions_;
};

template <class Work>
of_status ExtensionApi::guarded(const of_extension_api* api, const Work& work) {
  auto& self = *static_cast<ExtensionApi*>(api->context);
  if (self.environment_.is_closed()) return of_fail(OF_UNSUPPORTED, "the environment of Node.js has ended");
  try {
    work(self);
    return OF_OK;
  } catch (const Napi::Error& error) {
    return fail_with(error);
  } catch (const std::bad_alloc&) {
    return of_fail(OF_OUT_OF_MEMORY, "out of host memory");
  }
}

of_status ExtensionApi::fail_with(const Napi::Error& error) {
  of_status status = OF_INTERNAL_ERROR;
  std::string text = "an exception that is no error";
  try {
    const Napi::Value thrown(error.Env(), thrown_by(error));
    const Napi::Value code = thrown.As<Napi::Object>().Get("code"), message = thrown.As<Napi::Object>().Get("message");
    const std::string name = code.IsString() ? code.As<Napi::String>().Utf8Value() : "";
    for (int i = OF_INVALID_ARGUMENT; i <= OF_FILE_ERROR; ++i) {
      if (name == of_status_name(static_cast<of_status>(i))) status = static_cast<of_status>(i);
    }
    if (message.IsString()) text = message.As<Napi::String>().Utf8Value();
  } catch (const Napi::Error&) {
    // a thread that is being terminated
  }
  return of_fail(status, text.c_str());
}

int32_t ExtensionApi::find(Function function, of_object object, const char* name, const char* argument) const {
  const Napi::Env env = environment_.env();
  return call(function, {value_of(object), Napi::String::New(env, name != nullptr ? name : ""),
                         Napi::String::New(env, argument != nullptr ? argument : "")})
      .As<Napi::Number>();
}

napi_value ExtensionApi::make_owner(Function function, int32_t slot) const {
  try {
    return call(function, {number(slot)});
  } catch (...) {
    environment_.release(slot);
    throw;
  }
}

ExtensionApi::ExtensionApi(Environment& environment, Napi::Array functions) : environment_(environment), table_{} {
  for (uint32_t i = 0; i < COUNT; ++i) {
    functions_[i] = Napi::Persistent(functions.Get(i).As<Napi::Function>());
    functions_[i].SuppressDestruct();  // Node deletes it with the environment
  }
  table_.struct_size = sizeof(table_);
  table_.context = this;
  table_.enter = [](const of_extension_api* api) {
    return guarded(api, [](ExtensionApi& self) { self.call(ENTER, {}); });
  };
  table_.find_tensor = [](const of_extension_api* api, of_object object, const char* name, const char* argument,
                          of_tensor* tensor) {
    return guarded(api, [=](ExtensionApi& self) {
      *tensor = of_tensor_retain(self.environment_.get(self.find(FIND_TENSOR, object, name, argument)));
    });
  };
  table_.find_device = [](const of_extension_api* api, of_object object, const char* name, const char* argument,
                          of_device* device) {
    return guarded(
        api, [=](ExtensionApi& self) { *device = unpack_device(self.find(FIND_DEVICE, object, name, argument)); });
  };
  table_.find_dtype = [](const of_extension_api* api, of_object object, const char* name, const char* argument,
                         of_dtype* dtype) {
    return guarded(api, [=](ExtensionApi& self) {
      *dtype = static_cast<of_dtype>(self.find(FIND_DTYPE, object, name, argument));
    });
  };
  table_.find_generator = [](const of_extension_api* api, of_object object, const char* name, const char* argument,
                             of_generator* generator) {
    return guarded(api, [=](ExtensionApi& self) {
      const int32_t slot = self.find(FIND_GENERATOR, object, name, argument);
      *generator = of_generator_retain(self.environment_.generator(slot));
    });
  };
  table_.make_tensor = [](const of_extension_api* api, of_tensor tensor, of_object* object) {
    return guarded(api, [=](ExtensionApi& self) {
      Environment& environment = self.environment_;
      *object = object_of(tensor != nullptr ? self.make_owner(MAKE_TENSOR, environment.put(of_tensor_retain(tensor)))
                                            : static_cast<napi_value>(environment.env().Null()));
    });
  };
  table_.make_device = [](const of_extension_api* api, of_device device, of_object* object) {
    return guarded(api, [=](ExtensionApi& self) {
      *object = object_of(self.call(MAKE_DEVICE, {self.number(pack_device(device))}));
    });
  };
  table_.make_dtype = [](const of_extension_api* api, of_dtype dtype, of_object* object) {
    return guarded(api, [=](ExtensionApi& self) {
      *object = object_of(dtype != OF_DTYPE_NONE ? self.call(MAKE_DTYPE, {self.number(dtype)})
                                                 : Napi::Value(self.environment_.env().Null()));
    });
  };
  table_.make_generator = [](const of_extension_api* api, of_generator generator, of_object* object) {
    return guarded(api, [=](ExtensionApi& self) {
      Environment& environment = self.environment_;
      if (generator == nullptr) {
        *object = object_of(environment.env().Null());
        return;
      }
      const bool is_default = generator == of_default_generator();
      *object = object_of(self.make_owner(
          MAKE_GENERATOR,
          is_default ? 0 : environment.put(of_class_find("Generator"), of_generator_retain(generator))));
    });
  };
  table_.make_error = [](const of_extension_api* api, of_status status, const char* text, of_object* error) {
    return guarded(api,
                   [=](ExtensionApi& self) { *error = object_of(self.environment_.make_error(status, text).Value()); });
  };
  table_.name_type = [](const of_extension_api* api, of_object object, char name[64]) {
    return guarded(api, [=](ExtensionApi& self) {
      const std::string text = self.call(DESCRIBE, {value_of(object)}).As<Napi::String>();
      snprintf(name, 64, "%s", text.c_str());
    });
  };
}

void add_extension_functions(Exports& exports) {
  // setExtensionFunctions(functions): offers the table at a property of the environment's global object, which is not
  // that of the JavaScript modules where they run in a context of their own.
  exports.add("setExtensionFunctions", [](const Call& call) {
    Environment& environment = call.environment();
    environment.extension_api = std::make_shared<ExtensionApi>(environment, call[0].As<Napi::Array>());
    const napi_type_tag tag = {OF_EXTENSION_TAG_LOW, OF_EXTENSION_TAG_HIGH};
    auto holder = Napi::Object::New(call.Env());
    of_extension_api* table = &environment.extension_api->table();
    if (napi_type_tag_object(call.Env(), holder, &tag) != napi_ok ||
        napi_wrap(
            call.Env(), holder, table, [](auto...) {}, nullptr, nullptr) != napi_ok) {
      throw environment.make_error(OF_INTERNAL_ERROR, "the table for extensions could not be made");
    }
    const auto key = Napi::Symbol::For(call.Env(), "oneflow.extension");
    // Another copy of this package may replace it.
    call.Env().Global().DefineProperty(Napi::PropertyDescriptor::Value(key, holder, napi_configurable));
  });
}

}  // namespace oneflow::node
