// Tensors: creation from typed arrays, reading, properties, and release.
#include <memory>

#include "calls/arguments.h"
#include "functions.h"
#include "pins.h"

namespace oneflow::node {
namespace {

// create(typedArray, items per element, dtype, sizes, strides or null, offset, share): creates a tensor over a copy of
// the array's memory or, if `share` is true, over that memory itself. Returns its slot.
int32_t create(const Call& call) {
  Environment& environment = call.environment();
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(call.Env(), call[0], &type, &length, &data, nullptr, nullptr) != napi_ok) {
    throw environment.make_error(OF_INTERNAL_ERROR, "create: data is not a typed array");
  }
  const auto dtype = static_cast<of_dtype>(call.integer(2));
  const std::vector<int64_t> sizes = call.integers(3);
  const std::vector<int64_t> strides = call.integers(4);
  of_tensor_source source{};  // on the host
  source.struct_size = sizeof(source);
  source.dtype = dtype;
  source.rank = static_cast<int32_t>(sizes.size());
  source.sizes = sizes.data();
  source.strides = strides.size() == sizes.size() && !sizes.empty() ? strides.data() : nullptr;
  source.data = data;
  source.bytes = length / call.integer(1) * of_dtype_size(dtype);
  source.offset = call.integer(5);
  if (call.boolean(6)) {
    source.deleter = Pins::unpin;
    source.deleter_context = environment.pins()->pin(call[0]);
    if (source.deleter_context == nullptr) {
      throw environment.make_error(OF_INTERNAL_ERROR, "create: cannot pin the memory");
    }
  }
  of_tensor tensor = nullptr;
  if (of_status status = of_tensor_create(&source, &tensor)) {
    const Napi::Error error = environment.make_error(status);  // before unpin(), which may replace the last error
    if (source.deleter != nullptr) Pins::unpin(source.deleter_context);
    throw error;
  }
  return environment.put(tensor);
}

// describe(slot): returns the properties that have no accessor of their own.
Napi::Value describe(const Call& call) {
  of_tensor_info tensor{};
  tensor.struct_size = sizeof(tensor);
  call.check(of_tensor_get_info(call.tensor(0), &tensor));
  char device[64];
  auto object = Napi::Object::New(call.Env());
  object.Set("device", of_device_name(tensor.device, device));
  object.Set("version", tensor.version);
  object.Set("isContiguous", tensor.is_contiguous);
  object.Set("isView", tensor.is_view);
  object.Set("isPinned", tensor.is_pinned);
  return object;
}

// item(slot): returns the only element as a boolean, a number, or a BigInt if a number would not be exact.
Napi::Value item(const Call& call) {
  const Napi::Env env = call.Env();
  of_scalar scalar;
  call.check(of_tensor_item(call.tensor(0), &scalar));
  switch (scalar.kind) {
    case OF_SCALAR_BOOL:
      return Napi::Boolean::New(env, scalar.as.integer != 0);
    case OF_SCALAR_INT:
      return {env, integer_to_js(env, scalar.as.integer)};
    case OF_SCALAR_UINT:
      return Napi::BigInt::New(env, scalar.as.natural);
    default:
      return Napi::Number::New(env, scalar.as.real);
  }
}

// complexItem(slot): returns the only element as {re, im}.
Napi::Value complex_item(const Call& call) {
  double real = 0, imaginary = 0;
  call.check(of_tensor_complex_item(call.tensor(0), &real, &imaginary));
  auto object = Napi::Object::New(call.Env());
  object.Set("re", real);
  object.Set("im", imaginary);
  return object;
}

// format(slot, precision, threshold, edge items, line width, indent): returns the elements in nested brackets.
std::string format(const Call& call) {
  of_format_options options{};
  options.struct_size = sizeof(options);
  options.precision = static_cast<int32_t>(call.integer(1));
  options.threshold = static_cast<int32_t>(call.integer(2));
  options.edge_items = static_cast<int32_t>(call.integer(3));
  options.line_width = static_cast<int32_t>(call.integer(4));
  options.indent = static_cast<int32_t>(call.integer(5));
  char* text = nullptr;
  call.check(of_tensor_format(call.tensor(0), &options, &text));
  return take_text(text);
}

}  // namespace

void add_tensor_functions(Exports& exports) {
  exports.add<create>("create");
  // own(object, slot): makes the object the owner of the slot, which is released when the object is garbage-collected.
  exports.add("own", [](const Call& call) { call.environment().own(call[0], static_cast<int32_t>(call.integer(1))); });
  exports.add("release", [](const Call& call) { call.environment().release(call.integer(0)); });
  // releaseMany(count): releases the slots that the frame lists, as 32-bit integers after its header.
  exports.add("releaseMany", [](const Call& call) {
    const auto* slots = reinterpret_cast<const int32_t*>(call.environment().frame.values());
    const int64_t count = call.integer(0);
    for (int64_t i = 0; i < count; ++i) call.environment().release(slots[i]);
  });
  // clone(slot): returns the slot of a lazy clone, which shares the memory until either tensor is written to.
  exports.add("clone", [](const Call& call) {
    of_tensor result = nullptr;
    call.check(of_tensor_lazy_clone(call.tensor(0), &result));
    return call.environment().put(result);
  });
  exports.add("dtype", [](const Call& call) { return static_cast<int32_t>(of_tensor_dtype(call.tensor(0))); });
  exports.add("sizes", [](const Call& call) {
    const of_tensor tensor = call.tensor(0);
    return integers_to_js(call.Env(), of_tensor_sizes(tensor), of_tensor_rank(tensor));
  });
  exports.add("strides", [](const Call& call) {
    const of_tensor tensor = call.tensor(0);
    return integers_to_js(call.Env(), of_tensor_strides(tensor), of_tensor_rank(tensor));
  });
  exports.add<describe>("describe");
  // read(slot, arrayBuffer): copies all elements to the buffer, in row-major order.
  exports.add("read", [](const Call& call) {
    auto buffer = call[1].As<Napi::ArrayBuffer>();
    call.check(of_tensor_read(call.tensor(0), buffer.Data(), buffer.ByteLength()));
  });
  exports.add<item>("item");
  exports.add<complex_item>("complexItem");
  // equal(slot, slot): returns whether two tensors have the same shape, dtype and elements.
  exports.add("equal", [](const Call& call) {
    bool equal = false;
    call.check(of_tensor_equal(call.tensor(0), call.tensor(1), &equal));
    return equal;
  });
  exports.add<format>("format");
  // live(): returns the number of tensors that this environment holds.
  exports.add("live", [](const Call& call) {
    call.environment().release_collected();
    return call.environment().live();
  });
}

}  // namespace oneflow::node
