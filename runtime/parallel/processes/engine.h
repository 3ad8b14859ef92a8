// Runs operations: begins them in their order, and lets them go on as messages come.
//
// One thread at a time works: it has the role of the worker, and only it touches lanes, operations that have begun, and
// the communicator. A thread that waits for an operation takes the role if nobody has it. While nobody waits, a thread
// of the engine does the work.
#ifndef ONEFLOW_PARALLEL_PROCESSES_ENGINE_H_
#define ONEFLOW_PARALLEL_PROCESSES_ENGINE_H_

#include <oneflow/communicator.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parallel/processes/device_groups.h"
#include "parallel/processes/device_peers.h"
#include "parallel/processes/operation.h"

namespace oneflow::processes {

class Engine {
 public:
  // Joins a job by a communicator, whose events the engine sets in the options. Throws CommunicationError.
  Engine(const of_communicator_table& table, of_communicator_options options, Clock::duration timeout);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();
  // Leaves the job. Operations that are not done fail.
  void close();

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  const char* communicator() const { return table_.name; }

  // Begins an operation behind those of its lane: one that the caller waits for, or one that runs meanwhile.
  void submit(Ref<Operation> operation);
  void start(Ref<Operation> operation);
  // Waits until an operation is done, and throws its failure.
  void wait(Operation& operation);
  // Lets a function be called once an operation is done. Returns false if it is done already.
  bool set_on_done(Operation& operation, std::function<void()> function);

  // ---- for operations

  void post(uint32_t rank, const Envelope& envelope, const void* data, size_t size);
  // Posts a message to a rank that may be lost: who waits for it is told anyway.
  void try_post(uint32_t rank, const Envelope& envelope, const void* data, size_t size);
  bool prefers_message(uint32_t rank, size_t size) const;
  void offer(Transfer& transfer, const void* data, size_t size, of_communicator_key* key);
  void fetch(Transfer& transfer, const of_communicator_key& key, void* data, size_t size);
  void withdraw(Transfer& transfer) { table_.withdraw(self_, &transfer); }
  void note_taken(const Message& message);
  // Throws if the operation waits for a rank that is lost.
  void check_awaited(const Operation& operation) const;
  void check_not_lost(uint32_t rank) const;
  // Looks at the condition of an operation until it is true.
  void look_at(Operation& operation) { looked_at_.push_back(Ref<Operation>::share(&operation)); }
  Clock::duration timeout() const { return timeout_; }
  // Returns whether operations go on while no thread waits for them.
  bool works_alone() const { return !is_bound_to_thread(); }

  DevicePeers& device_peers() { return device_peers_; }
  DeviceGroups& device_groups() { return device_groups_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  // A call that was completed, for ranks that find later that they call something else.
  struct Completed {
    uint32_t sequence;
    Described described;
  };
  struct Lane {
    std::deque<Ref<Operation>> operations;  // the first one has begun, if any has
    uint32_t next = 0;                      // the sequence of the next operation that begins
    std::map<uint32_t, std::deque<Message>> early;
    std::deque<Completed> completed;
    std::string out_of_step;  // why no operation is possible any more
  };
  // What is known of another rank.
  struct Other {
    uint64_t unacknowledged = 0;  // bytes of messages that it has not taken
    uint64_t untold = 0;          // bytes of messages that were taken from it, and that it does not know of
    std::optional<std::string> lost;
  };

  // The role of the worker, for as long as the object lives. The lock is released meanwhile.
  class Working {
   public:
    Working(Engine& engine, Lock& lock);
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;
    ~Working();

   private:
    Engine& engine_;
    Lock& lock_;
  };

  // Work of the worker.
  bool work(const Operation* awaited);
  bool work_once();
  void look_at_conditions();
  void sleep(Clock::duration longest);
  void take_submitted();
  void begin_next(Lane& lane);
  void run(Operation& operation, void (Operation::*part)());
  void finish(Operation& operation, std::optional<Error> failure);
  void abort(Operation& operation, const Error& error);
  void tell(const Operation& operation, MessageKind kind, const std::string& text);
  void check_deadlines(Clock::time_point now);
  std::string overdue_text(const Operation& operation) const;
  void deliver(Operation& operation, Message message);
  void take_late(Lane& lane, const Message& message);
  void answer_present(const Message& question);
  void dispute(Operation& operation);
  void take_dispute(Operation& operation, const Message& message);

  bool has_descriptor() const { return table_.descriptor(self_) >= 0; }
  // Returns whether the descriptor is readable once there is any work.
  bool may_sleep() const { return has_descriptor() && looked_at_.empty(); }
  bool is_bound_to_thread() const { return only_thread_ != std::thread::id(); }
  void check_thread() const;
  void check_peer(uint32_t rank, of_status status) const;
  void wait_until_done(Operation& operation);
  void run_thread();
  void wake();

  // Events of the communicator.
  void arrived(uint32_t rank, const void* data, size_t size);
  void ended(Transfer& transfer, of_status status, const char* text);
  void lost(uint32_t rank, const char* text);

  const of_communicator_table& table_;
  const uint32_t rank_, size_;
  const Clock::duration timeout_;
  void* self_ = nullptr;
  int wake_descriptor_ = -1;
  std::thread::id only_thread_;  // which may call the communicator; none: all

  std::mutex mutex_;
  std::condition_variable changed_, rest_;  // for threads that wait, and for that of the engine
  bool is_worked_ = false;                  // whether a thread is the worker
  std::thread::id worker_;
  std::vector<Ref<Operation>> submitted_;
  Clock::time_point last_wait_{};  // when a thread has waited for an operation
  std::atomic<int> waiting_ = 0;   // the threads that wait, but the worker
  std::atomic<int> running_ = 0;   // operations that are not done
  std::atomic<bool> is_closing_ = false, has_submitted_ = false;
  std::atomic<int> asleep_ = 0;  // threads that sleep until there is work

  // Of the worker.
  std::unordered_map<uint64_t, Lane> lanes_;
  std::vector<Other> others_;
  std::vector<uint64_t> idle_lanes_;  // whose next operation can begin
  std::vector<Operation*> begun_;
  std::vector<Ref<Operation>> looked_at_;                 // which wait for a condition
  std::vector<Ref<Operation>> ready_;                     // which can go on
  std::vector<std::pair<Ref<Operation>, Error>> failed_;  // which have to end
  std::vector<Ref<Operation>> taken_;                     // which were submitted
  std::vector<std::byte> draft_;                          // of a message
  DevicePeers device_peers_{*this};
  DeviceGroups device_groups_{*this};
  std::thread thread_;
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_ENGINE_H_
