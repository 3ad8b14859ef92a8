// Operations and the queues that order their ends.
#ifndef COMMNET_CORE_OPERATION_H_
#define COMMNET_CORE_OPERATION_H_

#include <commnet/commnet.h>

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/fifo.h"
#include "core/notice.h"

namespace commnet {

class Endpoint;
class Peer;
class Queue;
struct Remote;

// Fields are guarded by the endpoint's lock, but for `ended`.
struct Operation {
  enum class Kind : uint8_t { kConnect, kSend, kRead, kWrite, kMark };

  Operation(std::shared_ptr<Endpoint> owner, Kind what, const cn_call* call);

  // Whether anybody hears of the end.
  bool is_observed() const { return done != nullptr || flags & CN_EVENT; }
  // Whether it has ended for the calling thread: while `done` runs, for nobody else.
  bool has_ended() const {
    return is_over.load(std::memory_order_acquire) || (running == this && ended.load(std::memory_order_acquire));
  }
  // The operation whose `done` this thread runs.
  static thread_local const Operation* running;

  // Returns where the bytes that are still to be sent are.
  const char* unsent() const { return copy.empty() ? data + sent : copy.data() + (sent - copied_from); }

  const std::shared_ptr<Endpoint> endpoint;
  const Kind kind;
  cn_done done = nullptr;
  void* user = nullptr;
  uint32_t flags = 0;
  std::shared_ptr<Queue> queue;
  Clock::time_point deadline = Clock::time_point::max();

  // How it has ended. The status and the text do not change once `ended` is set.
  bool has_result = false;
  cn_status status = CN_OK;
  std::string text;
  std::atomic<bool> ended{false};
  std::atomic<bool> is_over{false};  // after `done` has returned
  Notices notice;                    // of the end, until then

  Peer* peer = nullptr;
  uint64_t id = 0;       // 0: the peer does not know it
  char* data = nullptr;  // what is sent, read to or written from
  uint64_t size = 0;
  uint64_t sent = 0;                  // bytes that were given to the transport
  uint64_t begun = 0;                 // bytes of pieces that have begun to arrive
  uint64_t moved = 0;                 // bytes that have arrived, or have left
  uint32_t handler = 0, channel = 0;  // of a message
  cn_token token{};                   // of a read or a write
  uint64_t offset = 0;
  bool is_asked = false;           // whether the peer was asked for its memory
  bool has_begun = false;          // whether pieces were sent, or may be
  std::shared_ptr<Remote> remote;  // the memory, if this process reaches it by itself
  std::vector<char> copy;          // of what is sent from `copied_from` on, with CN_COPY
  uint64_t copied_from = 0;
  int cookies = 0;  // frames whose payload the transport still uses
  // Of a connection: the name that the address states, and transports and URLs that are still to be tried.
  std::string expected_name, why;
  Clock::time_point gives_up = Clock::time_point::max();  // when it no longer waits for the other side
  std::list<std::pair<const void*, std::string>> addresses;
};

using OperationPointer = std::shared_ptr<Operation>;

// Guarded by the endpoint's lock.
class Queue {
 public:
  explicit Queue(std::shared_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}

  const std::shared_ptr<Endpoint>& endpoint() const { return endpoint_; }
  void add(OperationPointer operation) { operations_.push_back(std::move(operation)); }
  // Takes away the operation that was added last.
  void take_back(const OperationPointer& operation) {
    if (!operations_.empty() && operations_.back() == operation) operations_.pop_back();
  }
  // Calls deliver(operation) for the operations at the front that have ended.
  template <class Deliver>
  void advance(Deliver&& deliver) {
    while (!operations_.empty() && operations_.front()->has_result) {
      deliver(std::move(operations_.front()));
      operations_.pop_front();
      mark();
    }
  }
  // Gives the marks at the front their results.
  void mark() {
    if (!operations_.empty() && operations_.front()->kind == Operation::Kind::kMark)
      operations_.front()->has_result = true;
  }

 private:
  const std::shared_ptr<Endpoint> endpoint_;
  Fifo<OperationPointer> operations_;
};

}  // namespace commnet

#endif  // COMMNET_CORE_OPERATION_H_
