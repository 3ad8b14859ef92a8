// One collective of a group, or one transfer between two ranks, while it is under way.
#ifndef ONEFLOW_PARALLEL_PROCESSES_OPERATION_H_
#define ONEFLOW_PARALLEL_PROCESSES_OPERATION_H_

#include <oneflow/communicator.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/ref.h"
#include "parallel/processes/described.h"
#include "parallel/processes/group.h"
#include "parallel/processes/message.h"
#include "parallel/processes/task.h"
#include "tensor/tensor.h"

namespace oneflow::processes {

class Engine;
class Operation;

using Clock = std::chrono::steady_clock;

// Bytes that another rank fetches, or that are fetched from it. It lives until the communicator has ended it, and keeps
// the memory alive.
struct Transfer {
  Operation* operation;  // NULL: it has failed meanwhile
  uint32_t rank;
  TensorRef memory;
};

class Operation final : public RefCounted<Operation> {
 public:
  using Body = std::function<Task(Operation&)>;

  // `lane` numbers the operations among which the order counts: all of them are begun in that order.
  Operation(Engine& engine, const Group& group, uint64_t lane, Described described, Body body);
  void destroy() { delete this; }

  // ---- for bodies, which name ranks by their position in the group

  const Group& group() const { return group_; }
  uint32_t size() const { return group_.size(); }
  uint32_t position() const { return position_; }

  // Sends bytes of a tensor in memory of the host, which must not change before sent() is awaited. `extent` is a number
  // for the receiver.
  void send(uint32_t to, const Tensor& memory, const void* data, size_t size, int64_t extent = 0);
  // Sends a message without bytes.
  void notify(uint32_t to, int64_t extent = 0) { send_message(to, nullptr, 0, extent); }

  // Returns the next message of a rank, once it has come.
  auto receive(uint32_t from) { return Receive{*this, group_.ranks()[from]}; }
  // Begins to move the bytes of a message into a part of a tensor in memory of the host. Throws InternalError unless
  // they are `size` bytes. fetched() must be awaited.
  void take(const Message& message, const Tensor& memory, void* data, size_t size);
  // Waits until all that take() has begun is there, or until all that was sent may be changed.
  auto fetched() { return All{*this, fetches_}; }
  auto sent() { return All{*this, offers_}; }
  // Waits until a condition is true, at which the engine looks again and again. Fails if one of the ranks is lost. The
  // arguments are variables of the body: compilers destroy temporary objects of such an expression twice.
  using Condition = std::function<bool()>;
  auto until(const std::vector<uint32_t>& ranks, const Condition& condition) {
    return Until{*this, {&ranks, &condition, false}};
  }

  // ---- for the engine

  enum class State : int8_t { kQueued, kRunning, kDone };

  Engine& engine;
  const uint64_t lane;
  const Described described;
  uint32_t sequence = 0;
  std::atomic<State> state = State::kQueued;
  Clock::time_point deadline = Clock::time_point::max();
  std::optional<Error> failure;
  std::vector<Message> inbox;
  bool is_disputed = false;  // whether another rank calls something else, and this one has told what it calls
  // Once the deadline was over: the ranks that have not said that they take part.
  std::optional<std::vector<uint32_t>> absent;
  // Called once when it is done, by the thread that works.
  std::function<void()> on_done;

  void start();
  // Goes on after something has come.
  void resume();
  // Ends the body.
  void stop();
  bool is_ready() const { return waiting_ && is_met(); }
  // Looks at the condition of until(), if the body waits for one. Throws what the condition throws.
  void look();
  bool is_looking() const { return waiting_ && looked_at_; }
  bool is_complete() const { return task_.is_done(); }
  // Returns the rank that the body waits for; nothing if it waits for several. What it waits for may have come before
  // that rank was lost.
  std::optional<uint32_t> awaited_rank() const;
  void note_ended(Transfer& transfer);

 private:
  struct Receive {
    Operation& operation;
    uint32_t rank;
    bool await_ready() { return operation.has_message(rank); }
    void await_suspend(std::coroutine_handle<> handle) { operation.suspend(handle, rank, nullptr); }
    Message await_resume() { return operation.pop_message(rank); }
  };
  using Transfers = std::vector<Transfer*>;
  struct All {
    Operation& operation;
    const Transfers& transfers;
    bool await_ready() { return transfers.empty(); }
    void await_suspend(std::coroutine_handle<> handle) { operation.suspend(handle, {}, &transfers); }
    void await_resume() {}
  };

  struct LookedAt {
    const std::vector<uint32_t>* ranks;
    const Condition* condition;
    bool was_true;
  };
  struct Until {
    Operation& operation;
    LookedAt awaited;
    bool await_ready() { return (*awaited.condition)(); }
    void await_suspend(std::coroutine_handle<> handle) { operation.suspend(handle, awaited); }
    void await_resume() {}
  };

  template <class Begin>
  void transfer(Transfers& list, uint32_t rank, const Tensor& memory, Begin&& begin);
  bool has_message(uint32_t rank) const;
  Message pop_message(uint32_t rank);
  void suspend(std::coroutine_handle<> handle, std::optional<uint32_t> rank, const Transfers* transfers);
  void suspend(std::coroutine_handle<> handle, LookedAt& awaited);
  bool is_met() const;
  void send_message(uint32_t to, const void* data, size_t size, int64_t extent);
  Envelope envelope(MessageKind kind, size_t size, int64_t extent) const;

  const Group& group_;
  const uint32_t position_;
  const Body body_;
  Task task_;
  std::coroutine_handle<> waiting_;
  std::optional<uint32_t> awaited_;       // the rank of the message that is waited for
  const Transfers* transfers_ = nullptr;  // those that are waited for
  LookedAt* looked_at_ = nullptr;         // the condition that is waited for
  Transfers fetches_, offers_;
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_OPERATION_H_
