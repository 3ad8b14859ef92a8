// Tensors: creation from typed arrays, reading, properties, and release.
#include <memory>

#include "arguments.h"
#include "functions.h"
#include "pins.h"

namespace oneflow::node {
namespace {

// create(typedArray, items per element, dtype, sizes, strides or null, offset, share): creates a tensor over a copy of
// the array's memory or, if `share` is true, over that memory itself. Returns its slot.
napi_value create(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  Environment& environment = call.environment();
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, call.value(0), &type, &length, &data, nullptr, nullptr) != napi_ok) {
    return environment.fail(OF_INTERNAL_ERROR, "create: data is not a typed array");
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
    source.deleter_context = environment.pins()->pin(call.value(0));
    if (source.deleter_context == nullptr) return environment.fail(OF_INTERNAL_ERROR, "create: cannot pin the memory");
  }
  of_tensor tensor = nullptr;
  if (of_status status = of_tensor_create(&source, &tensor)) {
    napi_value error = environment.make_error(status);  // before unpin(), which may replace the last error
    if (source.deleter != nullptr) Pins::unpin(source.deleter_context);
    napi_throw(env, error);
    return nullptr;
  }
  return to_js(env, environment.put(tensor));
}

// own(object, slot): makes the object the owner of the slot, which is released when the object is garbage-collected.
napi_value own(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  call.environment().own(call.value(0), static_cast<int32_t>(call.integer(1)));
  return nullptr;
}

napi_value release(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  call.environment().release(call.integer(0));
  return nullptr;
}

// releaseMany(count): releases the slots that the frame lists, as 32-bit integers after its header.
napi_value release_many(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const auto* slots = reinterpret_cast<const int32_t*>(call.environment().frame.values());
  const int64_t count = call.integer(0);
  for (int64_t i = 0; i < count; ++i) call.environment().release(slots[i]);
  return nullptr;
}

// clone(slot): returns the slot of a lazy clone, which shares the memory until either tensor is written to.
napi_value clone(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_tensor result = nullptr;
  const of_status status = of_tensor_lazy_clone(call.tensor(0), &result);
  return done(call, status, result);
}

napi_value dtype(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return to_js(env, of_tensor_dtype(call.tensor(0)));
}

napi_value sizes(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const of_tensor tensor = call.tensor(0);
  return to_js(env, of_tensor_sizes(tensor), of_tensor_rank(tensor));
}

napi_value strides(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const of_tensor tensor = call.tensor(0);
  return to_js(env, of_tensor_strides(tensor), of_tensor_rank(tensor));
}

// describe(slot): returns the properties that have no accessor of their own.
napi_value describe(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_tensor_info tensor{};
  tensor.struct_size = sizeof(tensor);
  if (of_status status = of_tensor_get_info(call.tensor(0), &tensor)) return call.environment().fail(status);
  char device[64];
  return to_js(env, {{"device", to_js(env, of_device_name(tensor.device, device))},
                     {"version", to_js(env, tensor.version)},
                     {"isContiguous", to_js(env, tensor.is_contiguous)},
                     {"isView", to_js(env, tensor.is_view)},
                     {"isPinned", to_js(env, tensor.is_pinned)}});
}

// read(slot, arrayBuffer): copies all elements to the buffer, in row-major order.
napi_value read(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  void* data = nullptr;
  size_t bytes = 0;
  napi_get_arraybuffer_info(env, call.value(1), &data, &bytes);
  return done(call, of_tensor_read(call.tensor(0), data, bytes));
}

// item(slot): returns the only element as a boolean, a number, or a BigInt if a number would not be exact.
napi_value item(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_scalar scalar;
  if (of_status status = of_tensor_item(call.tensor(0), &scalar)) return call.environment().fail(status);
  napi_value value = nullptr;
  switch (scalar.kind) {
    case OF_SCALAR_BOOL:
      return to_js(env, scalar.as.integer != 0);
    case OF_SCALAR_INT:
      return integer_to_js(env, scalar.as.integer);
    case OF_SCALAR_UINT:
      napi_create_bigint_uint64(env, scalar.as.natural, &value);
      return value;
    default:
      return to_js(env, scalar.as.real);
  }
}

// complexItem(slot): returns the only element as {re, im}.
napi_value complex_item(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  double real = 0, imaginary = 0;
  if (of_status status = of_tensor_complex_item(call.tensor(0), &real, &imaginary)) {
    return call.environment().fail(status);
  }
  return to_js(env, {{"re", to_js(env, real)}, {"im", to_js(env, imaginary)}});
}

// equal(slot, slot): returns whether two tensors have the same shape, dtype and elements.
napi_value equal(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  bool equal = false;
  if (of_status status = of_tensor_equal(call.tensor(0), call.tensor(1), &equal)) {
    return call.environment().fail(status);
  }
  return to_js(env, equal);
}

// format(slot, precision, threshold, edge items, line width, indent): returns the elements in nested brackets.
napi_value format(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_format_options options{};
  options.struct_size = sizeof(options);
  options.precision = static_cast<int32_t>(call.integer(1));
  options.threshold = static_cast<int32_t>(call.integer(2));
  options.edge_items = static_cast<int32_t>(call.integer(3));
  options.line_width = static_cast<int32_t>(call.integer(4));
  options.indent = static_cast<int32_t>(call.integer(5));
  char* text = nullptr;
  if (of_status status = of_tensor_format(call.tensor(0), &options, &text)) return call.environment().fail(status);
  const std::unique_ptr<char, void (*)(void*)> owned(text, of_free);
  return to_js(env, text);
}

// live(): returns the number of tensors that this environment holds.
napi_value live(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return to_js(env, call.environment().live());
}

}  // namespace

void add_tensor_functions(Environment* environment, napi_value exports) {
  add_function<create>(environment, exports, "create");
  add_function<own>(environment, exports, "own");
  add_function<release>(environment, exports, "release");
  add_function<release_many>(environment, exports, "releaseMany");
  add_function<clone>(environment, exports, "clone");
  add_function<dtype>(environment, exports, "dtype");
  add_function<sizes>(environment, exports, "sizes");
  add_function<strides>(environment, exports, "strides");
  add_function<describe>(environment, exports, "describe");
  add_function<read>(environment, exports, "read");
  add_function<item>(environment, exports, "item");
  add_function<complex_item>(environment, exports, "complexItem");
  add_function<equal>(environment, exports, "equal");
  add_function<format>(environment, exports, "format");
  add_function<live>(environment, exports, "live");
}

}  // namespace oneflow::node
