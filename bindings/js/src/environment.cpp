#include "environment.h"

#include <algorithm>
#include <utility>

#include "api_version.h"
#include "pins.h"

namespace oneflow::node {
namespace {

// The approximate memory of a handle and its JavaScript objects, without the elements.
constexpr int64_t kHandleBytes = 384;
// The change of memory from which on it is reported to the garbage collector. Reporting costs more than a small call.
constexpr int64_t kReportBytes = 1 << 18;
// The memory, and that per slot, after whose allocation owners are searched: the search goes through all slots.
constexpr int64_t kSearchBytes = 1 << 20;
constexpr int64_t kSearchBytesPerSlot = kHandleBytes / 2;
// As many slots are searched with one scope for their handles.
constexpr size_t kSearchedAtOnce = 1024;

// Packs a slot and its generation into the data pointer of a finalizer.
void* pack(int32_t slot, uint32_t generation) {
  return reinterpret_cast<void*>((static_cast<uint64_t>(generation) << 32) | static_cast<uint32_t>(slot));
}

// Returns a reference that lives as long as the environment, with which Node deletes it.
Napi::FunctionReference kept(Napi::Function function) {
  auto reference = Napi::Persistent(function);
  reference.SuppressDestruct();
  return reference;
}

}  // namespace

Environment::Environment(napi_env env)
    : env_(env),
      finalizers_run_during_collection_(finalizers_run_during_collection()),
      slots_(1),
      pins_(std::make_shared<Pins>(env)),
      collector_(*this),
      workers_(env, collector_) {}

Environment* Environment::attach(napi_env env) {
  auto* environment = new Environment(env);
  napi_set_instance_data(env, environment, finalize_environment, nullptr);
  // Runs before the finalizers of the remaining objects, while the environment can still be used.
  napi_add_env_cleanup_hook(
      env, [](void* data) { static_cast<Environment*>(data)->close(); }, environment);
  return environment;
}

int32_t Environment::put(of_tensor tensor) {
  std::unique_ptr<of_tensor_object, decltype(&of_tensor_release)> owned(tensor, of_tensor_release);
  const int32_t slot = take_slot(kHandleBytes + static_cast<int64_t>(of_tensor_memory(tensor)));
  fill(slot, TENSOR, owned.release());
  ++live_;
  return slot;
}

int32_t Environment::put(of_expression expression, int64_t bytes) {
  std::unique_ptr<of_expression_object, decltype(&of_expression_release)> owned(expression, of_expression_release);
  const int32_t slot = take_slot(kHandleBytes + bytes);
  fill(slot, EXPRESSION, owned.release());
  return slot;
}

int32_t Environment::put(const of_class* object_class, void* object) {
  const int32_t slot = put(object, object_class->release);
  static_cast<Object*>(slots_[slot].handle)->object_class = object_class;
  return slot;
}

void* Environment::object(int64_t slot) const {
  const auto* found = static_cast<const Object*>(handle(slot, OBJECT));
  return found != nullptr && found->object_class != nullptr ? found->object : nullptr;
}

const of_class* Environment::class_of(int64_t slot) const {
  const auto* found = static_cast<const Object*>(handle(slot, OBJECT));
  return found != nullptr ? found->object_class : nullptr;
}

void Environment::look_at_slot(int64_t slot, of_data* data) const {
  if (const of_tensor tensor = get(slot)) {
    data->kind = OF_DATA_TENSOR;
    data->as.tensor = tensor;
  } else if (void* found = object(slot)) {
    data->kind = OF_DATA_OBJECT;
    data->as.object = found;
    data->of.object = static_cast<const Object*>(slots_[slot].handle)->object_class;
  }
}

int32_t Environment::put(void* object, void (*release)(void*)) {
  std::unique_ptr<void, void (*)(void*)> owned(object, release);
  auto handle = std::make_unique<Object>(Object{object, release, nullptr});
  const int32_t slot = take_slot(kHandleBytes);
  fill(slot, OBJECT, handle.release());
  owned.release();
  return slot;
}

int32_t Environment::take_slot(int64_t bytes) {
  int32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<int32_t>(slots_.size());
    // release() must not fail: finalizers call it.
    if (free_slots_.capacity() <= slots_.size()) free_slots_.reserve(2 * slots_.size() + 1);
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[slot].bytes = bytes;
  count_memory(bytes);
  unsearched_ += bytes;
  if (unsearched_ > kSearchBytes + kSearchBytesPerSlot * static_cast<int64_t>(slots_.size())) release_collected();
  return slot;
}

void Environment::fill(int32_t slot, Kind kind, void* handle) {
  slots_[slot].kind = kind;
  slots_[slot].handle = handle;
}

void Environment::release(int64_t slot) {
  if (!contains(slot) || slots_[slot].kind == NOTHING) return;
  Slot& entry = slots_[slot];
  if (entry.owner != nullptr) {
    napi_delete_reference(env_, std::exchange(entry.owner, nullptr));  // its finalizer then does not run
    --owners_;
  }
  void* handle = std::exchange(entry.handle, nullptr);
  switch (std::exchange(entry.kind, NOTHING)) {
    case TENSOR:
      of_tensor_release(static_cast<of_tensor>(handle));
      --live_;
      break;
    case EXPRESSION:
      of_expression_release(static_cast<of_expression>(handle));
      break;
    case OBJECT: {
      const std::unique_ptr<Object> owned(static_cast<Object*>(handle));
      owned->release(owned->object);
      break;
    }
    case NOTHING:
      break;
  }
  ++entry.generation;
  unreported_ -= entry.bytes;  // reported at the next allocation: this may run during a garbage collection
  if (!closed_) free_slots_.push_back(static_cast<int32_t>(slot));
}

void Environment::own(napi_value object, int32_t slot) {
  Slot& entry = slots_[slot];
  napi_ref* owner = finalizers_run_during_collection_ ? nullptr : &entry.owner;
  if (napi_add_finalizer(env_, object, pack(slot, entry.generation), finalize_owner, this, owner) == napi_ok) {
    ++owners_;
    return;
  }
  release(slot);
  throw make_error(OF_OUT_OF_MEMORY, "the object that owns a tensor could not be registered");
}

void Environment::finalize_owner(node_api_basic_env, void* data, void* hint) {
  auto* self = static_cast<Environment*>(hint);
  const auto packed = reinterpret_cast<uint64_t>(data);
  const auto slot = static_cast<uint32_t>(packed);
  const bool counted = self->slots_[slot].owner == nullptr;  // otherwise release() changes the count
  if (self->slots_[slot].generation == packed >> 32) self->release(slot);
  if (counted) --self->owners_;
  self->delete_when_unused();
}

bool Environment::is_collected(const Slot& slot) const {
  napi_value owner = nullptr;
  return slot.owner != nullptr && napi_get_reference_value(env_, slot.owner, &owner) == napi_ok && owner == nullptr;
}

void Environment::release_collected() {
  unsearched_ = 0;
  if (finalizers_run_during_collection_) return;
  for (size_t first = 1; first < slots_.size(); first += kSearchedAtOnce) {
    const Napi::HandleScope scope(env_);
    const size_t end = std::min(first + kSearchedAtOnce, slots_.size());
    for (size_t slot = first; slot < end; ++slot) {
      if (is_collected(slots_[slot])) release(static_cast<int64_t>(slot));
    }
  }
}

void Environment::count_memory(int64_t change) {
  unreported_ += change;
  if (unreported_ <= kReportBytes && unreported_ >= -kReportBytes) return;
  report_memory();
  collector_.answer();  // a worker may wait for it while this thread never returns to the event loop
}

void Environment::report_memory() {
  int64_t adjusted;
  const int64_t change = unreported_;
  unreported_ = 0;  // first: the garbage collector may run during the call, and release tensors
  napi_adjust_external_memory(env_, change, &adjusted);
}

bool Environment::run_garbage_collector() {
  bool is_pending = true;
  napi_is_exception_pending(env_, &is_pending);
  if (is_pending) return false;  // one that a function of the program has thrown within this call
  const Napi::HandleScope scope(env_);
  napi_value receiver, result;
  if (napi_get_undefined(env_, &receiver) != napi_ok) return false;
  if (napi_call_function(env_, receiver, garbage_collector_.Value(), 0, nullptr, &result) == napi_ok) return true;
  napi_get_and_clear_last_exception(env_, &result);
  return false;
}

int32_t Environment::add_operator(of_op op, const of_overload& overload) {
  operators_.push_back({op, overload});
  return static_cast<int32_t>(operators_.size()) - 1;
}

void Environment::set_garbage_collector(Napi::Function collector) { garbage_collector_ = kept(collector); }

void Environment::set_error_factory(Napi::Function factory) { error_factory_ = kept(factory); }

Napi::Error Environment::make_error(of_status status, const char* text, bool has_own_names) {
  const auto message = Napi::String::New(env_, text == nullptr ? of_last_error() : text);
  const bool is_deferred = text == nullptr && of_last_error_is_deferred();
  const auto name = Napi::String::New(env_, of_status_name(status));
  return Napi::Error(env_, error_factory_.Call({name, message, Napi::Boolean::New(env_, is_deferred),
                                                Napi::Boolean::New(env_, has_own_names)}));
}

void Environment::close() {
  closed_ = true;
  collector_.close();  // first: workers may wait for it
  workers_.close();
  for (size_t slot = 1; slot < slots_.size(); ++slot) release(static_cast<int64_t>(slot));
  pins_->close();
}

void Environment::finalize_environment(node_api_basic_env, void* data, void*) {
  auto* self = static_cast<Environment*>(data);
  self->env_ = nullptr;
  self->delete_when_unused();
}

void Environment::delete_when_unused() {
  if (env_ == nullptr && owners_ == 0) delete this;
}

}  // namespace oneflow::node
