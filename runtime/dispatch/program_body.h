// What the generated body of a composite sees: the arguments of its call, operators to call, and results to set.
#ifndef ONEFLOW_DISPATCH_PROGRAM_BODY_H_
#define ONEFLOW_DISPATCH_PROGRAM_BODY_H_

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/integer.h"
#include "dispatch/dispatch.h"

// For functions that spend their time in the operators that they call: the compiler keeps their code small.
#define OF_COMPACT [[gnu::cold]]

namespace oneflow {

// A list of tensors that a program makes, and passes to an operator or returns.
class TensorList {
 public:
  void push_back(TensorRef tensor) {
    handles_.push_back(to_handle(tensor.get()));
    tensors_.push_back(std::move(tensor));
  }
  const Tensor& operator[](size_t position) const { return *tensors_[position]; }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }
  size_t size() const { return tensors_.size(); }
  // Returns a list or a range, of which each item adds one tensor to this list. Throws InvalidArgument for too many:
  // expanded tensors can be so large that the handles of their parts exceed the memory.
  template <class List>
  List reserve_for(List&& source) {
    constexpr size_t kMaxCount = 1 << 24;
    if (source.size() > kMaxCount)
      fail(OF_INVALID_ARGUMENT, "gives at most %zu tensors, not %zu", kMaxCount, source.size());
    tensors_.reserve(source.size());
    handles_.reserve(source.size());
    return std::forward<List>(source);
  }
  std::vector<TensorRef>&& take() && { return std::move(tensors_); }
  std::span<of_tensor> handles() const { return {const_cast<of_tensor*>(handles_.data()), handles_.size()}; }

 private:
  std::vector<TensorRef> tensors_;
  std::vector<of_tensor> handles_;
};
inline of_value to_value(const TensorList& list) { return to_value(list.handles()); }
// Returns a list that keeps its tensors.
template <class... Tensors>
TensorList owned_list(Tensors... tensors) {
  TensorList list;
  (list.push_back(std::move(tensors)), ...);
  return list;
}

// Gives names the results of a call.
template <size_t count, class... Tensors>
void assign(std::array<TensorRef, count> results, Tensors&... names) {
  size_t i = 0;
  ((names = std::move(results[i++])), ...);
}

// The tensors of an argument that is a list, none of which is null.
class TensorSpan {
 public:
  explicit TensorSpan(std::span<const of_tensor> handles) : handles_(handles) {}
  class Iterator {
   public:
    explicit Iterator(const of_tensor* handle) : handle_(handle) {}
    const Tensor& operator*() const { return *to_tensor(*handle_); }
    Iterator& operator++() {
      ++handle_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return handle_ != other.handle_; }

   private:
    const of_tensor* handle_;
  };
  Iterator begin() const { return Iterator(handles_.data()); }
  Iterator end() const { return Iterator(handles_.data() + handles_.size()); }
  size_t size() const { return handles_.size(); }
  const Tensor& operator[](size_t position) const { return *to_tensor(handles_[position]); }
  std::span<of_tensor> handles() const { return {const_cast<of_tensor*>(handles_.data()), handles_.size()}; }

 private:
  std::span<const of_tensor> handles_;
};
inline of_value to_value(const TensorSpan& list) { return to_value(list.handles()); }

// The arguments of a call, as generated programs read them.
class ProgramArguments {
 public:
  explicit ProgramArguments(const Call& call) : arguments_(call) {}

  const of_value& argument(int position) const { return arguments_.arguments[position]; }
  bool is_given(int position) const { return arguments_.is_given(position); }
  const Tensor& tensor(int position) const { return arguments_.tensor(position); }
  TensorSpan tensors(int position) const { return TensorSpan(arguments_.tensors(position)); }
  Integer integer(int position) const { return arguments_.integer(position); }
  Sizes integers(int position) const { return arguments_.integers(position); }
  of_scalar number(int position) const { return arguments_.number(position); }
  of_dtype dtype(int position) const { return arguments_.arguments[position].as.dtype; }
  bool boolean(int position) const { return arguments_.boolean(position); }
  double real(int position) const { return arguments_.real(position); }
  std::string_view string(int position) const { return arguments_.string(position); }

 private:
  const Call& arguments_;
};

// The body of a composite: the arguments of its call, operators to call, and results to set.
class ProgramBody : public Body, public ProgramArguments {
 public:
  explicit ProgramBody(Call& call) : Body(call), ProgramArguments(call), call_(call) {}

  // Returns the index of the body that the matched attribute of the outer operator selects.
  int variant() const { return match_variant(call_); }

  using Body::call;
  // Calls an operator with several results.
  template <size_t count, class... Values>
  std::array<TensorRef, count> call(const OperatorName& name, const Values&... values) {
    const of_value arguments[] = {to_value(values)...};
    of_value found[count]{};
    call_inside(*name, call_.name, arguments, found, call_.infer_only);
    std::array<TensorRef, count> results;
    for (size_t i = 0; i < count; ++i) results[i] = TensorRef::adopt(to_tensor(found[i].as.tensor));
    return results;
  }
  // Calls an operator that returns a list.
  template <class... Values>
  TensorList call_list(const OperatorName& name, const Values&... values) {
    const of_value arguments[] = {to_value(values)...};
    of_value found{};
    call_inside(*name, call_.name, arguments, {&found, 1}, call_.infer_only);
    const std::unique_ptr<of_tensor[]> handles(found.as.tensors);
    std::vector<TensorRef> tensors(static_cast<size_t>(found.count));
    for (size_t i = 0; i < tensors.size(); ++i) tensors[i] = TensorRef::adopt(to_tensor(handles[i]));
    TensorList list;
    for (TensorRef& tensor : tensors) list.push_back(std::move(tensor));
    return list;
  }

  // Set the results of the outer operator.
  void give(TensorRef result) { set_result(call_, 0, std::move(result)); }
  void give(const Tensor& result) { give(share(result)); }
  template <size_t count>
  void give(std::array<TensorRef, count> results) {
    for (size_t i = 0; i < count; ++i) set_result(call_, static_cast<int>(i), std::move(results[i]));
  }
  template <class First, class Second, class... Others>
  void give(First&& first, Second&& second, Others&&... others) {
    give(std::array<TensorRef, 2 + sizeof...(others)>{owned(std::forward<First>(first)),
                                                      owned(std::forward<Second>(second)),
                                                      owned(std::forward<Others>(others))...});
  }
  template <size_t count>
  void give(const std::array<of_tensor, count>& list) {
    give(TensorSpan(list));
  }
  void give(const TensorSpan& list) {
    TensorList own;
    for (const Tensor& each : list) own.push_back(share(each));
    give(std::move(own));
  }
  void give(TensorList list) { set_results(call_, std::move(list).take()); }

 private:
  static TensorRef owned(TensorRef tensor) { return tensor; }
  static TensorRef owned(const Tensor& tensor) { return share(tensor); }

  Call& call_;
};

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_PROGRAM_BODY_H_
