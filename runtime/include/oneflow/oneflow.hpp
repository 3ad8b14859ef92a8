/* The C++20 interface of oneflow: tensors that release themselves, exceptions, and operators as functions and methods.
 *
 *     #include <oneflow/oneflow.hpp>
 *     namespace flow = oneflow;
 *
 *     flow::Tensor x = flow::tensor({{1.0, 2.0}, {3.0, 4.0}});
 *     flow::Tensor y = flow::matmul(x, x.transpose(0, 1)) + 1;
 *     auto [values, indices] = y.max(1);
 *     std::cout << y.sum(0) << values.item<float>(0);
 *
 * Everything is inline code over the C API (oneflow.h), so that programs do not depend on the C++ binary interface of
 * the library. This header includes the generated <oneflow/operators.hpp>, which declares the operators, and
 * <oneflow/classes.hpp>, which declares classes.
 *
 * All functions throw an Error on failure, and are thread-safe. Threads that write to the same tensor must synchronize.
 */
#ifndef ONEFLOW_ONEFLOW_HPP_
#define ONEFLOW_ONEFLOW_HPP_

#include <oneflow/oneflow.h>
#include <oneflow/values.h>

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace oneflow {

class Tensor;

// ---------------------------------------------------------------- errors

/// The base class of all exceptions: a status, and a text that names the operator and the argument, and says what was
/// expected and found.
class Error : public std::runtime_error {
 public:
  Error(of_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  of_status status() const noexcept { return status_; }

 private:
  of_status status_;
};

namespace detail {

/// The exception class of one status.
template <of_status code>
class StatusError : public Error {
 public:
  explicit StatusError(const std::string& text) : Error(code, text) {}
};

}  // namespace detail

using InvalidArgument = detail::StatusError<OF_INVALID_ARGUMENT>;
using TypeMismatch = detail::StatusError<OF_TYPE_MISMATCH>;
using ShapeError = detail::StatusError<OF_SHAPE_ERROR>;
using DTypeError = detail::StatusError<OF_DTYPE_ERROR>;
using IndexOutOfRange = detail::StatusError<OF_INDEX_OUT_OF_RANGE>;
using DeviceError = detail::StatusError<OF_DEVICE_ERROR>;
using OutOfMemory = detail::StatusError<OF_OUT_OF_MEMORY>;
using Unsupported = detail::StatusError<OF_UNSUPPORTED>;
using CommunicationError = detail::StatusError<OF_COMMUNICATION_ERROR>;
using InternalError = detail::StatusError<OF_INTERNAL_ERROR>;
using FileError = detail::StatusError<OF_FILE_ERROR>;
using Interrupted = detail::StatusError<OF_INTERRUPTED>;

/// Throws the exception for a status that a function of the C API has just returned; does nothing for OF_OK.
inline void check(of_status status) {
  if (status == OF_OK) return;
  const std::string text = of_last_error();
  switch (status) {
    case OF_INVALID_ARGUMENT:
      throw InvalidArgument(text);
    case OF_TYPE_MISMATCH:
      throw TypeMismatch(text);
    case OF_SHAPE_ERROR:
      throw ShapeError(text);
    case OF_DTYPE_ERROR:
      throw DTypeError(text);
    case OF_INDEX_OUT_OF_RANGE:
      throw IndexOutOfRange(text);
    case OF_DEVICE_ERROR:
      throw DeviceError(text);
    case OF_OUT_OF_MEMORY:
      throw OutOfMemory(text);
    case OF_UNSUPPORTED:
      throw Unsupported(text);
    case OF_COMMUNICATION_ERROR:
      throw CommunicationError(text);
    case OF_FILE_ERROR:
      throw FileError(text);
    case OF_INTERRUPTED:
      throw Interrupted(text);
    default:
      throw InternalError(text);
  }
}

// ---------------------------------------------------------------- element types and devices

using DType = of_dtype;

inline constexpr DType bool_ = OF_BOOL;
inline constexpr DType uint8 = OF_UINT8;
inline constexpr DType int8 = OF_INT8;
inline constexpr DType int16 = OF_INT16;
inline constexpr DType int32 = OF_INT32;
inline constexpr DType int64 = OF_INT64;
inline constexpr DType uint16 = OF_UINT16;
inline constexpr DType uint32 = OF_UINT32;
inline constexpr DType uint64 = OF_UINT64;
inline constexpr DType float16 = OF_FLOAT16;
inline constexpr DType bfloat16 = OF_BFLOAT16;
inline constexpr DType float32 = OF_FLOAT32;
inline constexpr DType float64 = OF_FLOAT64;
inline constexpr DType complex64 = OF_COMPLEX64;
inline constexpr DType complex128 = OF_COMPLEX128;

/// The real C++ types: numbers and bool.
template <typename T>
concept Arithmetic = std::is_arithmetic_v<T>;

/// The complex C++ types.
template <typename T>
concept Complex = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// The C++ types of tensor elements.
template <typename T>
concept Element = Arithmetic<T> || Complex<T>;

/// Returns the dtype whose elements are stored as a C++ type. Types without a dtype do not compile.
template <Element T>
constexpr DType dtype_of() {
  if constexpr (Complex<T>) {
    return sizeof(T) == 8 ? OF_COMPLEX64 : OF_COMPLEX128;
  } else if constexpr (std::same_as<T, bool>) {
    return OF_BOOL;
  } else if constexpr (std::floating_point<T>) {
    static_assert(sizeof(T) <= 8, "long double has no element type");
    return sizeof(T) == 4 ? OF_FLOAT32 : OF_FLOAT64;
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 1 ? OF_INT8 : sizeof(T) == 2 ? OF_INT16 : sizeof(T) == 4 ? OF_INT32 : OF_INT64;
  } else {
    return sizeof(T) == 1 ? OF_UINT8 : sizeof(T) == 2 ? OF_UINT16 : sizeof(T) == 4 ? OF_UINT32 : OF_UINT64;
  }
}

/// A device. It converts implicitly from a name ("cpu" or "cpu:1") and from the C API's of_device.
class Device {
 public:
  /// Makes the default device.
  Device() : device_(of_default_device()) {}
  Device(of_device device) : device_(device) {}
  /// Makes the device with a name; throws DeviceError if there is none.
  Device(const std::string& name) { check(of_device_parse(name.c_str(), &device_)); }
  Device(const char* name) { check(of_device_parse(name, &device_)); }

  /// Returns the name, such as "cpu:0".
  std::string name() const {
    char buffer[64];
    return of_device_name(device_, buffer);
  }
  /// Returns the device for the C API.
  of_device get() const { return device_; }

 private:
  of_device device_;
};

}  // namespace oneflow

#include <oneflow/classes.hpp>

namespace oneflow {

// ---------------------------------------------------------------- arguments of operators

/// A number as an argument; None if default-constructed.
class Number {
 public:
  Number() : value_(of_none()) {}
  template <Arithmetic T>
  Number(T number) {
    if constexpr (std::same_as<T, bool>) {
      value_ = of_bool_value(number);
    } else if constexpr (std::unsigned_integral<T>) {
      value_ = of_uint_value(number);
    } else if constexpr (std::integral<T>) {
      value_ = of_int_value(number);
    } else {
      value_ = of_float_value(static_cast<double>(number));
    }
  }

  of_value value() const { return value_; }

 private:
  of_value value_;
};

/// A tensor or a number as an argument; None if default-constructed. Borrows the tensor, so use it as a parameter only.
class Operand {
 public:
  Operand() : value_(of_none()) {}
  Operand(const Tensor& tensor);
  Operand(const Number& number) : value_(number.value()) {}
  template <Arithmetic T>
  Operand(T number) : value_(Number(number).value()) {}

  of_value value() const { return value_; }

 private:
  of_value value_;
};

/// A list of integers as an argument: `{0, 1}`, a vector, or a single integer `0`. Borrows the list, so use it as a
/// parameter only.
class Ints {
 public:
  Ints(int64_t single) : single_(single), count_(1) {}
  Ints(std::initializer_list<int64_t> list) : Ints(std::span(list.begin(), list.size())) {}
  Ints(std::span<const int64_t> list) : list_(list.data()), count_(list.size()) {}
  Ints(const std::vector<int64_t>& list) : list_(list.data()), count_(list.size()) {}

  const int64_t* data() const { return list_ || count_ == 0 ? list_ : &single_; }
  size_t size() const { return count_; }
  of_value value() const { return of_int_list_value(data(), size()); }

 private:
  const int64_t* list_ = nullptr;
  int64_t single_ = 0;
  size_t count_;
};

/// A list of integers, like Ints, or std::nullopt for None.
class OptionalInts {
 public:
  OptionalInts(std::nullopt_t) {}
  OptionalInts(int64_t single) : list_(single) {}
  OptionalInts(std::initializer_list<int64_t> list) : list_(list) {}
  OptionalInts(const std::vector<int64_t>& list) : list_(list) {}

  of_value value() const { return list_ ? list_->value() : of_none(); }

 private:
  std::optional<Ints> list_;
};

/// A list of tensors as an argument, in which an empty Tensor stands for None. Borrows the tensors, so use it as a
/// parameter only.
class Tensors {
 public:
  Tensors(std::initializer_list<Tensor> list);
  Tensors(std::span<const Tensor> list);
  Tensors(const std::vector<Tensor>& list);

  of_value value() const { return of_tensor_list_value(handles_.data(), handles_.size()); }

 private:
  std::vector<of_tensor> handles_;
};

/// A list of devices as an argument: `{"cpu:0", "cpu:1"}` or a vector.
class Devices {
 public:
  Devices(std::initializer_list<Device> list) : Devices(std::span(list.begin(), list.size())) {}
  Devices(const std::vector<Device>& list) : Devices(std::span(list)) {}
  Devices(std::span<const Device> list) {
    for (const Device& device : list) devices_.push_back(device.get());
  }

  of_value value() const { return of_device_list_value(devices_.data(), devices_.size()); }

 private:
  std::vector<of_device> devices_;
};

namespace detail {

// Converts an argument to a value of the C API, which borrows lists, strings and tensors.
inline of_value value_of(const Tensor& tensor);
inline of_value value_of(const Operand& operand) { return operand.value(); }
inline of_value value_of(const Number& number) { return number.value(); }
inline of_value value_of(const Ints& list) { return list.value(); }
inline of_value value_of(const OptionalInts& list) { return list.value(); }
inline of_value value_of(const Tensors& list) { return list.value(); }
inline of_value value_of(const Devices& list) { return list.value(); }
inline of_value value_of(int64_t integer) { return of_int_value(integer); }
inline of_value value_of(double real) { return of_float_value(real); }
inline of_value value_of(bool boolean) { return of_bool_value(boolean); }
inline of_value value_of(DType dtype) { return of_dtype_value(dtype); }
inline of_value value_of(const Device& device) { return of_device_value(device.get()); }
inline of_value value_of(const Generator& generator) { return of_generator_value(generator.get()); }
inline of_value value_of(std::string_view text) {
  of_value value = of_make_value(OF_VALUE_STRING, text.size());
  value.as.string = text.data();
  return value;
}
template <typename T>
of_value value_of(const std::optional<T>& optional) {
  return optional ? value_of(*optional) : of_none();
}

}  // namespace detail

/// Returns an empty tensor, which stands for None for arguments of type `Tensor?`.
const Tensor& no_tensor();

}  // namespace oneflow

#include <oneflow/tensor_methods.hpp>

namespace oneflow {

// ---------------------------------------------------------------- indexing

/// The slice start:stop:step. Without a bound, it extends to the end of the dimension.
struct Slice {
  std::optional<int64_t> start = std::nullopt;
  std::optional<int64_t> stop = std::nullopt;
  int64_t step = 1;
};
/// Stands for all dimensions that the other parts of an index do not use.
struct Ellipsis {};
/// Inserts a dimension of size 1.
struct NewDim {};
inline constexpr Ellipsis ellipsis;
inline constexpr NewDim new_dim;

/// A part of an index: an integer, a slice, `ellipsis`, `new_dim`, a bool, a mask or a tensor of integer indices.
class Index {
 public:
  template <std::integral T>
  Index(T position) {
    part_.kind = std::same_as<T, bool> ? OF_INDEX_BOOL : OF_INDEX_INT;
    part_.start = static_cast<int64_t>(position);
  }
  Index(const Slice& slice) {
    part_.kind = OF_INDEX_SLICE;
    part_.has_start = slice.start.has_value();
    part_.has_stop = slice.stop.has_value();
    part_.start = slice.start.value_or(0);
    part_.stop = slice.stop.value_or(0);
    part_.step = slice.step;
  }
  Index(Ellipsis) { part_.kind = OF_INDEX_ELLIPSIS; }
  Index(NewDim) { part_.kind = OF_INDEX_NEW; }
  Index(const Tensor& tensor);

  const of_index& get() const { return part_; }

 private:
  of_index part_{};
};

// ---------------------------------------------------------------- tensors

/// A reference to a tensor, which is released with the last reference. Copies refer to the same tensor. A
/// default-constructed object is empty: it can be assigned to, and stands for None as an argument; all member functions
/// that need a tensor throw InvalidArgument.
///
/// Operators with a tensor argument `input` are also member functions; see tensor_methods.hpp.
class Tensor : public TensorMethods {
 public:
  Tensor() = default;
  /// Takes ownership of a handle from the C API.
  explicit Tensor(of_tensor handle) : handle_(handle) {}
  Tensor(const Tensor& other) : handle_(other.handle_ ? of_tensor_retain(other.handle_) : nullptr) {}
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor() {
    if (handle_) of_tensor_release(handle_);
  }

  /// Creates a tensor on the default device that holds a copy of row-major values. Throws ShapeError unless their
  /// number is the product of the sizes.
  template <typename T>
  static Tensor copy_of(std::span<const T> values, const std::vector<int64_t>& sizes) {
    Tensor result = create(dtype_of<T>(), const_cast<T*>(values.data()), values.size_bytes(), sizes, nullptr, nullptr);
    if (result.count() == static_cast<int64_t>(values.size())) return result;
    throw ShapeError("copy_of: sizes must hold " + std::to_string(values.size()) + " elements, got " +
                     std::to_string(result.count()));
  }
  template <typename T>
  static Tensor copy_of(const std::vector<T>& values, const std::vector<int64_t>& sizes) {
    return copy_of(std::span<const T>(values), sizes);
  }

  /// Creates a contiguous tensor on the first device that shares `bytes` bytes of host memory. `release` is called
  /// once, on any thread, when no tensor uses the memory any more; it is not called if this function throws.
  static Tensor share(DType dtype, void* memory, uint64_t bytes, const std::vector<int64_t>& sizes,
                      std::function<void()> release) {
    auto context = std::make_unique<std::function<void()>>(std::move(release));
    const of_deleter deleter = [](void* raw) {
      const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(raw));
      if (*owned) (*owned)();
    };
    Tensor result = create(dtype, memory, bytes, sizes, deleter, context.get());
    context.release();
    return result;
  }

  // Deleted because it is ambiguous: it could test for an empty handle, or convert the only element.
  explicit operator bool() const = delete;
  /// Returns whether the object is empty.
  bool is_empty_handle() const { return handle_ == nullptr; }
  /// Returns the handle for the C API, which this object keeps; null if it is empty.
  of_tensor get() const { return handle_; }
  /// Transfers the handle to the caller, who releases it, and becomes empty.
  of_tensor release() { return std::exchange(handle_, nullptr); }

  /// Returns the dtype.
  DType dtype() const { return of_tensor_dtype(held()); }
  /// Returns the number of dimensions.
  int64_t rank() const { return of_tensor_rank(held()); }
  /// Returns the sizes. The span is valid as long as the tensor.
  std::span<const int64_t> sizes() const { return {of_tensor_sizes(held()), static_cast<size_t>(rank())}; }
  /// Returns the strides in elements. The span is valid as long as the tensor.
  std::span<const int64_t> strides() const { return {of_tensor_strides(held()), static_cast<size_t>(rank())}; }
  /// Returns the size of a dimension, which counts from the end if it is negative. Throws IndexOutOfRange.
  int64_t size(int64_t dim) const {
    const int64_t wrapped = dim < 0 ? dim + rank() : dim;
    if (wrapped < 0 || wrapped >= rank()) {
      const std::string count = std::to_string(rank()), last = std::to_string(rank() - 1);
      throw IndexOutOfRange(
          rank() == 0 ? "size: the tensor has no dimensions"
                      : "size: dim must be between -" + count + " and " + last + " for a tensor with " + count +
                            (rank() == 1 ? " dimension" : " dimensions") + ", got " + std::to_string(dim));
    }
    return sizes()[static_cast<size_t>(wrapped)];
  }
  /// Returns the number of elements.
  int64_t count() const { return of_tensor_count(held()); }
  /// Returns the device of the elements.
  Device device() const { return info().device; }
  /// Returns whether the elements are row-major without gaps.
  bool is_contiguous() const { return info().is_contiguous; }
  /// Returns whether the tensor is a view of another tensor's storage.
  bool is_view() const { return info().is_view; }
  /// Returns whether the memory is page-locked host memory, as from pin_memory().
  bool is_pinned() const { return info().is_pinned; }
  /// Returns a number that increases with each write to the storage.
  uint64_t version() const { return info().version; }

  /// Returns all properties.
  of_tensor_info info() const {
    of_tensor_info result{};
    result.struct_size = sizeof result;
    check(of_tensor_get_info(held(), &result));
    return result;
  }

  /// Waits for pending work, and returns the address of the element at index 0; see strides() for the other elements.
  /// Valid until the next write to the tensor. Throws DTypeError unless the elements are stored as T, and DeviceError
  /// if the host cannot access the memory.
  template <typename T>
  const T* data() const {
    require<T>("data");
    const void* memory = nullptr;
    check(of_tensor_data(held(), &memory));
    return static_cast<const T*>(memory);
  }
  /// Like data(), for writing; see of_tensor_mutable_data().
  template <typename T>
  T* mutable_data() {
    require<T>("mutable_data");
    void* memory = nullptr;
    check(of_tensor_mutable_data(held(), &memory));
    return static_cast<T*>(memory);
  }
  /// Returns a copy of all elements in row-major order. Throws DTypeError unless the elements are stored as T.
  template <Element T>
  std::vector<T> to_vector() const {
    require<T>("to_vector");
    const auto size = static_cast<size_t>(count());
    const auto values = std::make_unique<T[]>(size);  // a std::vector<bool> is not an array of bool
    check(of_tensor_read(held(), values.get(), size * sizeof(T)));
    return std::vector<T>(values.get(), values.get() + size);
  }
  /// Returns the only element, converted to T. Throws InvalidArgument unless there is exactly one element, and
  /// DTypeError if it is complex and T is not.
  template <Element T>
  T item() const {
    if constexpr (Complex<T>) {
      double real = 0, imaginary = 0;
      check(of_tensor_complex_item(held(), &real, &imaginary));
      return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary)};
    } else {
      of_scalar scalar;
      check(of_tensor_item(held(), &scalar));
      switch (scalar.kind) {
        case OF_SCALAR_FLOAT:
          return static_cast<T>(scalar.as.real);
        case OF_SCALAR_UINT:
          return static_cast<T>(scalar.as.natural);
        default:
          return static_cast<T>(scalar.as.integer);
      }
    }
  }

  /// Returns the view at an index of the first dimension, which counts from the end if it is negative.
  Tensor operator[](int64_t position) const { return at({position}); }
  /// Returns the elements that an index selects, by NumPy's rules: x.at({0, Slice{1, 3}}), x.at({ellipsis, mask}). The
  /// result is a view, unless a part is a tensor or a bool: then it is a copy.
  Tensor at(std::initializer_list<Index> index) const {
    const std::vector<of_index> parts = parts_of(index);
    of_tensor result = nullptr;
    check(of_tensor_index(held(), parts.data(), parts.size(), &result));
    return Tensor(result);
  }
  /// Assigns a value, which is broadcast, to the elements that an index selects.
  void set(std::initializer_list<Index> index, const Operand& value) {
    const std::vector<of_index> parts = parts_of(index);
    const of_value given = value.value();
    check(of_tensor_set_index(held(), parts.data(), parts.size(), &given));
  }

  /// Returns a contiguous copy on a device, which may be the tensor's own.
  Tensor to_device(const Device& device) const {
    of_tensor result = nullptr;
    check(of_tensor_to_device(held(), device.get(), &result));
    return Tensor(result);
  }

  /// Returns whether both tensors have the same shape, dtype and elements. NaN differs from NaN.
  bool equals(const Tensor& other) const {
    bool result = false;
    check(of_tensor_equal(held(), other.held(), &result));
    return result;
  }

  /// Returns the tensor as a string: "tensor([[1., 2.]], dtype=float32)".
  std::string to_string() const {
    of_format_options options{sizeof(of_format_options), 4, 1000, 3, 80, 7};
    char* text = nullptr;
    check(of_tensor_format(held(), &options, &text));
    const std::unique_ptr<char, void (*)(void*)> owned(text, of_free);
    return std::string("tensor(") + text + ", dtype=" + of_dtype_name(dtype()) + ")";
  }

 private:
  static Tensor create(DType dtype, void* data, uint64_t bytes, const std::vector<int64_t>& sizes, of_deleter deleter,
                       void* context) {
    of_tensor_source source{};
    source.struct_size = sizeof source;
    source.dtype = dtype;
    source.device = deleter ? of_device{} : of_default_device();
    source.rank = static_cast<int32_t>(sizes.size());
    source.sizes = sizes.data();
    source.data = data;
    source.bytes = bytes;
    source.deleter = deleter;
    source.deleter_context = context;
    of_tensor result = nullptr;
    check(of_tensor_create(&source, &result));
    return Tensor(result);
  }
  static std::vector<of_index> parts_of(std::initializer_list<Index> index) {
    std::vector<of_index> parts;
    for (const Index& part : index) parts.push_back(part.get());
    return parts;
  }
  // Returns the handle; throws InvalidArgument if the object is empty.
  of_tensor held() const {
    if (!handle_) throw InvalidArgument("the tensor is empty");
    return handle_;
  }
  // Throws DTypeError unless the elements are stored as T. `function` is the name for the text.
  template <typename T>
  void require(const char* function) const {
    if (dtype() == dtype_of<T>()) return;
    throw DTypeError(std::string(function) + ": the tensor must have dtype " + of_dtype_name(dtype_of<T>()) + ", got " +
                     of_dtype_name(dtype()));
  }

  of_tensor handle_ = nullptr;
};

inline std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) { return stream << tensor.to_string(); }

inline const Tensor& no_tensor() {
  static const Tensor none;
  return none;
}
inline Operand::Operand(const Tensor& tensor) : value_(of_tensor_value(tensor.get())) {}
inline Tensors::Tensors(std::initializer_list<Tensor> list) : Tensors(std::span(list.begin(), list.size())) {}
inline Tensors::Tensors(const std::vector<Tensor>& list) : Tensors(std::span(list)) {}
inline Tensors::Tensors(std::span<const Tensor> list) {
  for (const Tensor& tensor : list) handles_.push_back(tensor.get());
}
inline Index::Index(const Tensor& tensor) {
  part_.kind = OF_INDEX_TENSOR;
  part_.tensor = tensor.get();
}

namespace detail {

inline of_value value_of(const Tensor& tensor) { return of_tensor_value(tensor.get()); }

/// Calls an operator that allocates its `count` results.
template <size_t count>
std::array<Tensor, count> call(of_op& op, const char* name, std::span<const of_value> args) {
  of_tensor handles[count] = {};
  of_tensor* pointers[count];
  for (size_t i = 0; i < count; ++i) pointers[i] = &handles[i];
  check(of_call_new(&op, name, args.data(), args.size(), pointers, count));
  std::array<Tensor, count> results;
  for (size_t i = 0; i < count; ++i) results[i] = Tensor(handles[i]);
  return results;
}

/// Calls an operator and writes its results to tensors of the caller.
inline void call_into(of_op& op, const char* name, std::span<const of_value> args,
                      std::initializer_list<of_tensor> results) {
  check(of_call_into(&op, name, args.data(), args.size(), results.begin(), results.size()));
}

/// Calls an operator that returns a list of tensors.
inline std::vector<Tensor> call_list(of_op& op, const char* name, std::span<const of_value> args) {
  of_value list;
  check(of_call_list(&op, name, args.data(), args.size(), &list));
  const std::unique_ptr<of_value, void (*)(of_value*)> owner(&list, of_value_release);
  std::vector<Tensor> tensors;
  for (int32_t i = 0; i < list.count; ++i) tensors.emplace_back(of_tensor_retain(list.as.tensors[i]));
  return tensors;
}

/// Calls an operator that returns a list of tensors, and writes its results to tensors of the caller.
inline void call_into(of_op& op, const char* name, std::span<const of_value> args, const Tensors& tensors) {
  const of_value list = tensors.value();
  check(of_call_into_list(&op, name, args.data(), args.size(), list.as.tensors, static_cast<size_t>(list.count)));
}

}  // namespace detail

}  // namespace oneflow

#include <oneflow/class_methods.hpp>
#include <oneflow/operators.hpp>

namespace oneflow {

// ---------------------------------------------------------------- tensors from literals

namespace detail {

/// Collects the values of nested braces. The first list at each depth determines the size; add() throws ShapeError for
/// a later list of a different length.
template <typename T>
struct Literal {
  std::vector<T> values;
  int64_t sizes[3] = {};
  size_t rank = 0;

  void add(T value, size_t) { values.push_back(value); }
  template <typename Item>
  void add(std::initializer_list<Item> items, size_t depth) {
    const auto size = static_cast<int64_t>(items.size());
    if (rank == depth) sizes[rank++] = size;
    if (sizes[depth] != size) throw ShapeError("tensor: lists of one depth must have the same length");
    for (const auto& item : items) add(item, depth + 1);
  }
};

/// Creates a tensor from nested braces. Without a dtype, integers are int64, bools are bool, and floating-point numbers
/// have the default dtype.
template <typename T, typename Item>
Tensor from_literal(std::initializer_list<Item> items, std::optional<DType> dtype) {
  using Held =
      std::conditional_t<std::same_as<T, bool>, uint8_t, std::conditional_t<std::integral<T>, int64_t, double>>;
  Literal<Held> literal;
  if constexpr (std::same_as<T, Item>) {
    literal.sizes[literal.rank++] = static_cast<int64_t>(items.size());
    for (const T& value : items) literal.values.push_back(static_cast<Held>(value));
  } else {
    literal.add(items, 0);
  }
  const DType natural = std::same_as<T, bool> ? OF_BOOL : std::integral<T> ? OF_INT64 : of_default_dtype();
  return cast(Tensor::copy_of(literal.values, {literal.sizes, literal.sizes + literal.rank}), dtype.value_or(natural));
}

}  // namespace detail

/// Creates a tensor of up to three dimensions on the default device from literals: tensor(1.5), tensor({1, 2, 3}),
/// tensor({{1.0, 2.0}, {3.0, 4.0}}). Without a dtype, integers are int64, bools are bool, and floating-point numbers
/// have the default dtype.
template <Arithmetic T>
Tensor tensor(T value, std::optional<DType> dtype = std::nullopt) {
  return detail::from_literal<T>({value}, dtype).reshape(std::vector<int64_t>{});
}
template <Arithmetic T>
Tensor tensor(std::initializer_list<T> values, std::optional<DType> dtype = std::nullopt) {
  return detail::from_literal<T>(values, dtype);
}
template <typename T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> values, std::optional<DType> dtype = std::nullopt) {
  return detail::from_literal<T>(values, dtype);
}
template <typename T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
              std::optional<DType> dtype = std::nullopt) {
  return detail::from_literal<T>(values, dtype);
}

/// Starts the sequence of a seed in the generator of the process.
inline void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }
/// Waits for all work of a device, and throws the first error of that work.
inline void synchronize(const Device& device = Device()) { check(of_synchronize(device.get())); }

// ---------------------------------------------------------------- streams and events

class Stream;

/// A point in a stream of a device, for which other streams and the host can wait. See of_event_create().
class Event {
 public:
  /// Makes an event that marks no point yet. With `is_timed`, elapsed() can be used.
  explicit Event(const Device& device = Device(), bool is_timed = false) {
    check(of_event_create(device.get(), is_timed, &event_));
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, of_event{})) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_.id != 0) of_event_destroy(event_);
  }

  /// Marks the current end of a stream.
  void record(const Stream& stream);
  /// Returns whether the work before the point is done.
  bool query() const {
    bool is_done = false;
    check(of_event_query(event_, &is_done));
    return is_done;
  }
  /// Waits for the work before the point, without its errors.
  void synchronize() const { check(of_event_synchronize(event_)); }
  /// Returns the milliseconds between two points that were reached.
  static double elapsed(const Event& start, const Event& end) {
    double milliseconds = 0;
    check(of_event_elapsed(start.event_, end.event_, &milliseconds));
    return milliseconds;
  }
  /// Returns the event for the C API.
  of_event get() const { return event_; }

 private:
  of_event event_{};
};

/// A stream of a device, which works on its operations one after another. See of_stream_create().
class Stream {
 public:
  /// Makes a stream, which is destroyed with this object, once its work is done.
  explicit Stream(const Device& device = Device()) : is_owned_(true) {
    check(of_stream_create(device.get(), &stream_));
  }
  Stream(Stream&& other) noexcept
      : stream_(std::exchange(other.stream_, of_stream{})), is_owned_(std::exchange(other.is_owned_, false)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(is_owned_, other.is_owned_);
    return *this;
  }
  /// Ignores the errors of its work: call synchronize() before to see them.
  ~Stream() {
    if (is_owned_) of_stream_destroy(stream_);
  }

  /// Returns the calling thread's current stream of a device.
  static Stream current(const Device& device = Device()) {
    of_stream stream;
    check(of_stream_current(device.get(), &stream));
    return Stream(stream);
  }

  /// Waits for all work of the stream, and throws the first error of that work.
  void synchronize() const { check(of_stream_synchronize(stream_)); }
  /// Returns whether all work of the stream is done.
  bool query() const {
    bool is_done = false;
    check(of_stream_query(stream_, &is_done));
    return is_done;
  }
  /// Makes later work of the stream wait for the point that an event marks.
  void wait(const Event& event) const { check(of_stream_wait_event(stream_, event.get())); }
  /// Returns the device.
  Device device() const {
    of_device device;
    check(of_stream_get_device(stream_, &device));
    return device;
  }
  /// Returns the stream for the C API.
  of_stream get() const { return stream_; }

 private:
  explicit Stream(of_stream stream) : stream_(stream) {}

  of_stream stream_{};
  bool is_owned_ = false;
};

inline void Event::record(const Stream& stream) { check(of_event_record(event_, stream.get())); }

/// Makes a stream the calling thread's current one, until the end of a scope.
class CurrentStream {
 public:
  explicit CurrentStream(const Stream& stream) : device_(stream.device()) {
    check(of_stream_current(device_.get(), &before_));
    check(of_stream_set_current(device_.get(), stream.get()));
  }
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;
  ~CurrentStream() {
    // The default stream, if the stream from before was destroyed meanwhile.
    if (of_stream_set_current(device_.get(), before_) != OF_OK) of_stream_set_current(device_.get(), of_stream{});
  }

 private:
  Device device_;
  of_stream before_{};
};

}  // namespace oneflow

#endif  // ONEFLOW_ONEFLOW_HPP_
