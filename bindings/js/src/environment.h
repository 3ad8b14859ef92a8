// What the addon keeps per Node environment (the main thread and each worker thread have one).
//
// JavaScript never sees a native pointer. A tensor is known there by its slot, a small integer, which says whether it
// still holds one; an einsum expression has one, too. A function that takes slots is also passed the objects that they
// came from, as further arguments that it does not read: they keep the objects from being collected, and the slots from
// being emptied, before it is done.
//
// The object model was chosen by measurement (Node 20, nanoseconds per call that returns a new object, on one machine):
// ObjectWrap of node-addon-api 430 to 550, napi_wrap 450 to 746, an external in a field 300; a finalizer on an object
// that JavaScript made, as here, 420 with the operator's own 150 to 200 in it, and the bare slot, which tidy() uses,
// 206. Arguments and results travel through the frame, memory that both sides share, because reading them one by one
// through Node-API costs 10 to 80 each.
#pragma once

#include <node_api.h>
#include <oneflow/oneflow.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace oneflow::node {

// Memory that JavaScript and this side share. The header says what is called, one 16-byte value per argument and
// result follows, then the strings and lists that those refer to by their offset.
struct Frame {
  struct Header {
    int32_t status;     // out: an of_status
    int32_t op;         // what find_op() gave
    int32_t arguments;  // how many values follow
    int32_t results;    // how many values follow the arguments; a TENSOR there is written to
    int32_t owned;      // whether the single result is to belong to the object that call() is passed
    int32_t reserved[3];
  };
  uint8_t* data = nullptr;
  size_t bytes = 0;

  Header* header() const { return reinterpret_cast<Header*>(data); }
  of_value* values() const { return reinterpret_cast<of_value*>(data + sizeof(Header)); }
};

// A JavaScript object that keeps foreign memory alive; freed on the thread that it came from.
class Pins;

class Environment {
 public:
  explicit Environment(napi_env env);
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Creates the environment's state and arranges for its end.
  static Environment* attach(napi_env env);

  napi_env env() const { return env_; }
  // Whether the environment is ending: nothing more can be given to JavaScript.
  bool is_closed() const { return closed_; }

  // -- slots ----------------------------------------------------------------------------------------------------
  // Takes over the handle. The garbage collector is told of what it holds, of an expression `bytes`.
  int32_t put(of_tensor tensor);
  int32_t put(of_expression expression, int64_t bytes);
  // NULL for a slot that holds nothing, or the other.
  of_tensor get(int64_t slot) const { return contains(slot) ? slots_[slot].tensor : nullptr; }
  of_expression expression(int64_t slot) const { return contains(slot) ? slots_[slot].expression : nullptr; }
  void release(int64_t slot);
  // Has the slot released when the JavaScript object is collected. The finalizer runs during garbage collection, so
  // that a loop which never returns to the event loop stays flat.
  void own(napi_value object, int32_t slot);
  // How many tensors there are.
  size_t live() const { return live_; }
  // Runs a full garbage collection, finalizers included.
  void collect_garbage();

  // -- operators ------------------------------------------------------------------------------------------------
  // -1 when there is none.
  int32_t find_op(const char* name);
  of_op op(int32_t number) const { return ops_[number]; }

  // -- failures -------------------------------------------------------------------------------------------------
  void set_error_factory(napi_value factory);
  // The exception for a status and a text; `text` is NULL for that of of_last_error().
  napi_value make_error(of_status status, const char* text = nullptr);
  // Throws it; returns nullptr, so that callers can `return environment->fail(status)`.
  napi_value fail(of_status status, const char* text = nullptr);

  Frame frame;
  const std::shared_ptr<Pins>& pins() const { return pins_; }

 private:
  struct Slot {
    of_tensor tensor = nullptr;
    of_expression expression = nullptr;  // instead of a tensor
    int64_t bytes = 0;                   // what the garbage collector was told
    uint32_t generation = 0;  // tells an owner whose slot was released early, and perhaps reused, from the present one
  };

  static void finalize_owner(node_api_basic_env env, void* data, void* hint);
  static void finalize_environment(node_api_basic_env env, void* data, void* hint);
  bool contains(int64_t slot) const { return slot > 0 && static_cast<size_t>(slot) < slots_.size(); }
  int32_t take_slot(int64_t bytes);
  void count_memory(int64_t change);
  void report_memory();
  void close();
  void delete_when_unused();

  napi_env env_;
  std::vector<Slot> slots_;
  std::vector<int32_t> free_slots_;
  size_t live_ = 0;
  size_t owners_ = 0;  // objects whose finalizers still point here; they may run after the environment's
  int64_t unreported_ = 0;
  bool closed_ = false;
  std::vector<of_op> ops_;
  napi_ref error_factory_ = nullptr;
  std::shared_ptr<Pins> pins_;
};

}  // namespace oneflow::node
