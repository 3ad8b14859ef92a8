// The state of the addon in one Node environment. The main thread and each worker thread have their own environment.
//
// JavaScript never sees a native pointer. It refers to tensors, einsum expressions and objects by slots: small
// integers, each the index of an entry of the environment that holds a handle or is empty. Functions that take slots
// are also passed the JavaScript objects that own them, as further arguments that they do not read: this keeps the
// objects from being garbage-collected, and the slots from being emptied, before the function is done.
//
// Owner objects are created by JavaScript and get a finalizer here, which is faster than wrapping a native object with
// napi_wrap or with ObjectWrap of node-addon-api. A slot without a finalizer, as tidy() uses it, is faster still.
// Other native objects, which JavaScript holds as external values, are put into slots for the same way of release.
// Arguments and results are passed through the frame, memory that both sides share, because reading them one by one
// through Node-API is slow.
#pragma once

#include <napi.h>
#include <oneflow/objects.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "calls/workers.h"
#include "classes/host.h"
#include "collector.h"

namespace oneflow::node {

// The memory that passes calls between JavaScript and C++. It begins with the header, which is followed by one 16-byte
// value per argument and result, and then by the strings and lists that the values refer to by their offset. JavaScript
// owns the memory.
struct Frame {
  struct Header {
    int32_t status;     // out: an of_status
    int32_t op;         // the operator, as returned by add_operator()
    int32_t arguments;  // number of argument values
    int32_t results;    // number of result values; a result of kind TENSOR is an `out` tensor to write to
    int32_t owned;      // whether the object that is passed to call() becomes the owner of a single tensor result
    int32_t reserved[3];
  };
  uint8_t* data = nullptr;
  size_t bytes = 0;

  Header* header() const { return reinterpret_cast<Header*>(data); }
  of_value* values() const { return reinterpret_cast<of_value*>(data + sizeof(Header)); }
};

// The references to JavaScript objects that keep foreign memory alive; see pins.h.
class Pins;
// What native modules of users get; see extension_api.cpp.
class ExtensionApi;

// The slots, operators and error factory of one Node environment. Not thread-safe: used only on its thread.
class Environment {
 public:
  explicit Environment(napi_env env);
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Creates the state of an environment, which is deleted after the environment has ended.
  static Environment* attach(napi_env env);

  Napi::Env env() const { return env_; }
  // Returns whether the environment is ending, so that no more values can be passed to JavaScript.
  bool is_closed() const { return closed_; }

  // -- slots ----------------------------------------------------------------------------------------------------
  // Puts a handle into a free slot and returns the slot. Takes ownership of the handle. Reports its memory to the
  // garbage collector; an expression holds `bytes`.
  int32_t put(of_tensor tensor);
  int32_t put(of_expression expression, int64_t bytes);
  int32_t put(const of_class* object_class, void* object);
  int32_t put(void* object, void (*release)(void*));
  // Returns the handle in a slot, or NULL if the slot is empty or holds a handle of another type.
  of_tensor get(int64_t slot) const { return static_cast<of_tensor>(handle(slot, TENSOR)); }
  of_expression expression(int64_t slot) const { return static_cast<of_expression>(handle(slot, EXPRESSION)); }
  // Returns the object of a class in a slot, or NULL.
  void* object(int64_t slot) const;
  // Returns that, or the tensor in a slot, or NULL.
  void* receiver(int64_t slot) const {
    void* found = object(slot);
    return found != nullptr ? found : get(slot);
  }
  // Returns the class of an object, or NULL.
  const of_class* class_of(int64_t slot) const;
  of_generator generator(int64_t slot) const { return static_cast<of_generator>(object(slot)); }
  // Returns a number that changes when a slot is released.
  uint32_t generation(int64_t slot) const { return contains(slot) ? slots_[slot].generation : 0; }
  // Says what is in a slot: a tensor or an object of a class.
  void look_at_slot(int64_t slot, of_data* data) const;
  // Releases the handle in a slot and makes the slot free. Does nothing if it is empty.
  void release(int64_t slot);
  // Makes a JavaScript object the owner of a slot, which is released when the object is garbage-collected: during the
  // collection or, if Node does not run finalizers then, soon after it. Memory thus does not grow in a loop that never
  // returns to the event loop.
  void own(napi_value object, int32_t slot);
  // Releases the slots whose owners have been garbage-collected; there are none if finalizers run during collections.
  void release_collected();
  // Returns the number of tensors in slots.
  size_t live() const { return live_; }
  // Sets the function that runs a full garbage collection.
  void set_garbage_collector(Napi::Function collector);
  // Calls it. Returns false if it cannot be called, or throws.
  bool run_garbage_collector();

  // -- operators ------------------------------------------------------------------------------------------------
  // An operator, and the overload that it is.
  struct Operator {
    of_op op;
    const of_overload& overload;
  };
  // Returns a number for an operator. Each call adds one.
  int32_t add_operator(of_op op, const of_overload& overload);
  const Operator& operator_at(int32_t number) const { return operators_[number]; }

  // -- functions of JavaScript ------------------------------------------------------------------------------------
  Host& host() { return host_; }

  // -- failures -------------------------------------------------------------------------------------------------
  // Sets the function that makes exceptions from (name of the status, message, whether the error is deferred, whether
  // the message has the names of JavaScript).
  void set_error_factory(Napi::Function factory);
  // Makes the exception for a status and a message; NULL stands for that of of_last_error().
  Napi::Error make_error(of_status status, const char* text = nullptr, bool has_own_names = false);
  // Throws the exception of a failure.
  void check(of_status status) {
    if (status != OF_OK) throw make_error(status);
  }

  Frame frame;
  std::shared_ptr<ExtensionApi> extension_api;
  const std::shared_ptr<Pins>& pins() const { return pins_; }
  Workers& workers() { return workers_; }

 private:
  enum Kind : uint32_t { NOTHING, TENSOR, EXPRESSION, OBJECT };
  // The handle of another native object.
  struct Object {
    void* object;
    void (*release)(void*);
    const of_class* object_class;  // NULL: none
  };
  // An entry. Small, because garbage collections go through many.
  struct Slot {
    void* handle = nullptr;
    napi_ref owner = nullptr;  // a weak reference, if finalizers do not run during collections
    int64_t bytes = 0;         // the memory reported to the garbage collector
    Kind kind = NOTHING;
    uint32_t generation = 0;  // increases with each release: the finalizer of an earlier owner then has no effect
  };

  static void finalize_owner(node_api_basic_env env, void* data, void* hint);
  static void finalize_environment(node_api_basic_env env, void* data, void* hint);
  bool contains(int64_t slot) const { return slot > 0 && static_cast<size_t>(slot) < slots_.size(); }
  void* handle(int64_t slot, Kind kind) const {
    return contains(slot) && slots_[slot].kind == kind ? slots_[slot].handle : nullptr;
  }
  bool is_collected(const Slot& slot) const;
  int32_t take_slot(int64_t bytes);
  void fill(int32_t slot, Kind kind, void* handle);
  void count_memory(int64_t change);
  void report_memory();
  void close();
  void delete_when_unused();

  napi_env env_;
  const bool finalizers_run_during_collection_;
  std::vector<Slot> slots_;
  std::vector<int32_t> free_slots_;
  size_t live_ = 0;
  size_t owners_ = 0;  // finalizers that refer to this object; they may run after finalize_environment()
  int64_t unreported_ = 0;
  int64_t unsearched_ = 0;  // the memory that was allocated since the last release_collected()
  bool closed_ = false;
  std::vector<Operator> operators_;
  Napi::FunctionReference garbage_collector_;
  Napi::FunctionReference error_factory_;
  Host host_;
  std::shared_ptr<Pins> pins_;
  Collector collector_;
  Workers workers_;
};

}  // namespace oneflow::node
