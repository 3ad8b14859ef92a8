// An endpoint: its transports, peers, memory and events, and the thread on which it works.
#ifndef COMMNET_CORE_ENDPOINT_H_
#define COMMNET_CORE_ENDPOINT_H_

#include <commnet/commnet.h>
#include <commnet/transport.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/connection.h"
#include "core/descriptor.h"
#include "core/lookup.h"
#include "core/memory.h"
#include "core/message.h"
#include "core/notice.h"
#include "core/operation.h"
#include "core/peer.h"
#include "core/poller.h"
#include "core/secure.h"
#include "core/settings.h"
#include "core/status.h"

namespace commnet {

class Endpoint final : public std::enable_shared_from_this<Endpoint> {
 public:
  using Lock = std::unique_lock<std::mutex>;

  static std::shared_ptr<Endpoint> create(const cn_endpoint_options* options);
  // Creates an endpoint of another name and address, with the settings and the secret of `other`.
  static std::shared_ptr<Endpoint> create_like(const Endpoint& other, std::string name, std::string listen);
  ~Endpoint();

  const Settings& settings() const { return settings_; }
  const std::string& address() const { return address_; }

  // -- for the C API. They take the lock.

  // Returns whether this call has closed it; others wait for that. Sets *unsent to what it says of messages that were
  // not sent.
  bool close(std::string* unsent);
  bool is_closing();
  void connect(const char* address, const OperationPointer& operation);
  void send(Peer& peer, const OperationPointer& operation);
  // Sends a message of which nobody hears the end, if that can be done at once; returns whether it has.
  bool send_now(Peer& peer, uint32_t handler, uint32_t channel, const void* data, uint64_t size);
  void request(Peer& peer, const OperationPointer& operation);
  void mark(const OperationPointer& operation);
  cn_status wait(Operation& operation, int64_t timeout_ms);
  void cancel(const OperationPointer& operation);
  void disconnect(Peer& peer);
  Peer* find_peer(const std::string& name);
  void set_handler(uint32_t number, cn_handler handler, void* user, bool as_event);
  void release(cn_message* message);
  std::shared_ptr<const Memory> register_memory(void* data, uint64_t size, uint32_t rights);
  std::shared_ptr<const Memory> allocate_memory(uint64_t size, uint32_t rights);
  void release_memory(const std::shared_ptr<const Memory>& memory);
  void watch_peers(bool watch);
  cn_status next_event(cn_event& event, int64_t timeout_ms);
  int event_descriptor() const { return settings_.is_manual ? work_or_event_.number() : event_signal_.number(); }
  bool is_connected(const Peer& peer) const {
    if (is_inherited()) return false;
    const Lock lock = take_lock();
    return peer.is_connected();
  }
  const char* transport_of(const Peer& peer) const {
    if (is_inherited()) return "";
    const Lock lock = take_lock();
    return peer.transport();
  }
  void progress(int64_t timeout_ms);
  // Throws Error on the thread that runs a callback.
  void refuse_in_callbacks() const {
    const Lock lock = take_lock();
    refuse_callbacks();
  }
  // Returns whether more events of peers that have left wait than one window holds: it takes no new peers then.
  bool holds_too_much() const;
  // Says to a peer that this endpoint is connected with all members of a job. Throws Error if it has left.
  void say_ready(Peer& peer, uint64_t job);
  // Waits until a peer has said so; returns whether it has. Throws Error if it has left before.
  bool wait_ready(Peer& peer, uint64_t job, int64_t timeout_ms);

  // -- for peers and connections. The lock is held.

  MemoryTable& memories() { return memories_; }
  SpareMemory& spare_memory() { return spare_memory_; }
  // Gives an operation its result. It ends once the queue allows it.
  void finish(const OperationPointer& operation, cn_status status, std::string_view text) noexcept;
  void deliver(std::unique_ptr<cn_message> message) noexcept;
  void joined(Peer& peer) noexcept;
  void left(Peer& peer, cn_status status, std::string_view text) noexcept;
  Notices take_notice() { return spare_notices_.take(); }
  // Returns a message without content.
  std::unique_ptr<cn_message> take_message();
  Peer& peer_of(const std::string& name);
  // Returns whether a connection that this endpoint has begun is on its way to an endpoint.
  bool connects_to(const std::string& name) const;
  // Returns whether one is on its way to an endpoint whose name is not known yet.
  bool connects_to_unknown() const;
  // Decides about the connections that wait for the name of another one.
  void decide_waiting() noexcept;
  // The connection of an operation has failed: another address is tried, if there is one.
  void connect_failed(const OperationPointer& operation, cn_status status, const std::string& text) noexcept;
  // Connects the further streams of a peer at the address of its first one.
  void add_streams(Peer& peer, const Connection& first);
  void bury(Connection& connection) noexcept;
  void note_work(Peer& peer) noexcept {
    if (peer.note_work()) working_.push_back(&peer);  // there is room for all peers
  }
  // Has the lives of peers checked at a time, or before.
  void check_lives_at(Clock::time_point time) {
    peers_at_ = std::min(peers_at_, time);
    check_timers_at(time);
  }
  void check_timers_at(Clock::time_point time) { timers_at_ = std::min(timers_at_, time); }
  // Returns when the present turn of work has begun, give or take some milliseconds.
  Clock::time_point now() const { return now_; }
  // Returns whether frames are to wait until work() sends them together: while calls follow each other fast.
  bool leaves_flushes();
  Connection* accepted(cn_transport* transport, cn_connection* handle) noexcept;
  // The operation waits for a connection to a peer that the other side has begun, or tries again.
  void await(Peer& peer, const OperationPointer& operation);
  void wake();
  // Lets threads that wait look again.
  void notify() { changed_.notify_all(); }
  // Does so from any thread, without the lock.
  void wake_from_outside();

 private:
  struct Transport {
    const cn_transport_table* table;
    cn_transport* handle;
    int descriptor;
    bool is_ready = true;  // it has said that there is something to do
  };
  // An operation that waits until a host is found.
  struct LookingUp {
    OperationPointer operation;
    const Transport* transport;
    std::string url;
    std::shared_ptr<Lookup> lookup;  // NULL: it is still to begin
    Clock::time_point gives_up;
  };
  // An operation that waits for a connection of the other side.
  struct Awaiting {
    Peer* peer;
    OperationPointer operation;
    Clock::time_point again_at;
  };

  Endpoint(Settings settings, unsigned fork) : settings_(std::move(settings)), fork_(fork) {}
  static std::shared_ptr<Endpoint> open(Settings settings);
  void open_transports();
  std::string numbered_listen(const std::vector<const cn_transport_table*>& tables) const;
  bool is_awaited_stream(const Connection& connection) const;
  // Takes the lock, before the thread that works if that is busy. Throws Error in the child of a fork, where another
  // thread may have held it.
  Lock take_lock() const;
  bool is_inherited() const;
  void require_open() const;
  // Throws Error on the thread that runs a callback.
  void refuse_callbacks() const;
  static Clock::time_point time_after(int64_t timeout_ms, Clock::time_point now);
  void begin(const OperationPointer& operation);
  // Begins an operation by start(), with the lock.
  template <class Start>
  void start(const OperationPointer& operation, Start&& start);
  void end_early(const OperationPointer& operation, cn_status status, const char* text) noexcept;
  bool begin_connection(const Transport& transport, const std::string& url, const OperationPointer& operation,
                        uint32_t stream, const Key& link);
  // Waits until a condition holds; returns whether it does.
  template <class Condition>
  bool wait_for(Lock& lock, int64_t timeout_ms, Condition&& holds);
  void end(const OperationPointer& operation) noexcept;
  // Adds an event.
  void push(Notices& notice) noexcept;
  void try_address(const OperationPointer& operation);
  void look_up(LookingUp& looking_up);
  // Goes on with the operations whose hosts are found, or take too long.
  void take_lookups(Clock::time_point now) noexcept;
  // Does so, and ends the operation if that fails.
  void try_address_or_end(const OperationPointer& operation) noexcept;
  // Gives messages that are ready to their handlers; those without one wait. Returns what is to be called.
  Notices claim() noexcept;
  // Runs the handler of a message, unless handlers were changed since `version`. Returns whether it has.
  bool run_handler(const Notice& notice, uint64_t version) noexcept;
  bool run_callback(Notice& notice, uint64_t version) noexcept;
  void take_back(std::unique_ptr<cn_message> message) noexcept;
  void free_handled(Notices& handled) noexcept;
  // Ends the link to a peer for the exception of a callback, which is being handled; without the lock.
  void disconnect_for_exception(Peer* peer) noexcept;
  // Waits until a handler that was running for a number has returned.
  void wait_for_handler(Lock& lock, uint32_t number);
  // Frees messages without a handler of peers that have left, beyond a window. Returns how many of `leaving`.
  size_t trim_unclaimed(const Peer* leaving) noexcept;
  // Works once: waits until `until` for something to do, without the lock. Returns whether anything was done.
  bool work(Lock& lock, Clock::time_point until) noexcept;
  // Does what is to be done when there is no work.
  void idle(Lock& lock, Clock::time_point until);
  void sleep(Lock& lock, Clock::duration longest);
  void note_ready(std::span<const epoll_event> events);
  void note_all_ready();
  bool is_busy();
  bool may_sleep();
  bool run_transports(bool* lacks_memory) noexcept;
  bool rest_transports() noexcept;
  Clock::time_point run_timers() noexcept;
  void run_ready(Lock& lock) noexcept;
  void after_call(Lock& lock);
  void run_thread();
  bool has_unsent() const;
  std::string describe_unsent() const;
  // Callbacks begin, and end. If that takes long, another thread works meanwhile.
  void begin_callbacks() noexcept;
  void end_callbacks() noexcept { callbacks_begin_ = Clock::time_point::max(); }
  void run_relief();
  void end_relief();
  void clear_graves() noexcept;
  void drop_oldest_stranger() noexcept;
  void let_others(Lock& lock);
  void lower_wake_signal();

  // When a connection is tried again that something was in the way of.
  static constexpr Clock::duration kAgain = std::chrono::milliseconds(50);

  const Settings settings_;
  std::string address_;
  mutable std::mutex mutex_;
  mutable std::atomic<int> callers_{0};  // threads that wait for the lock
  std::condition_variable changed_;
  bool begins_to_close_ = false, is_closing_ = false, is_closed_ = false;
  const unsigned fork_;
  std::vector<Transport> transports_;
  Poller poller_;         // of the transports and the wake signal
  Poller work_or_event_;  // of the former and the event signal
  Signal wake_signal_, event_signal_;
  bool is_sleeping_ = false;           // work() waits
  std::atomic<bool> is_awake_{false};  // and was woken
  std::thread thread_;
  std::thread relief_;  // while there are callbacks from time to time
  bool has_relief_ = false;
  std::condition_variable relief_wakes_;
  Clock::time_point callbacks_begin_ = Clock::time_point::max();
  uint64_t callback_count_ = 0;
  bool is_working_ = false;  // a thread is in work()
  std::thread::id worker_;
  Clock::time_point now_ = Clock::now();  // when the present turn of work has begun, give or take some milliseconds
  Clock::time_point last_work_, timers_at_, peers_at_, last_flush_;
  Signal stays_awake_;  // for an event loop outside: it is to look for work again
  bool is_kept_awake_ = false, is_past_busy_ = false;
  bool spins_ = false;  // looks for work before it sleeps
  Clock::duration spin_penalty_ = std::chrono::milliseconds(1);
  Clock::time_point spins_again_at_;
  bool looks_rarely_ = false;  // at descriptors: the last work has come without them
  unsigned idle_turns_ = 0;

  std::list<std::unique_ptr<Connection>> connections_, graves_;
  std::map<std::string, std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> working_, turn_;  // that have work to do; those whose turn it is. With room for all
  uint64_t turns_ = 0;
  std::list<Awaiting> awaiting_;
  std::list<LookingUp> lookups_;
  std::multimap<Clock::time_point, std::weak_ptr<Operation>> deadlines_;
  std::set<OperationPointer> connecting_;

  MemoryTable memories_;
  SpareMemory spare_memory_;
  std::unordered_map<uint32_t, Handler> handlers_;
  std::atomic<uint64_t> handlers_version_{0};
  // The number whose handler runs, with a count of calls above it; 0: none.
  std::atomic<uint64_t> running_{0};
  uint32_t calls_ = 0;  // of handlers; used by the thread that works
  // Messages without a handler, what is to be called, and events, each in the order of arrival; the event that was
  // taken last, to which its text belongs.
  Notices unclaimed_, ready_, events_, last_event_;
  SpareNotices spare_notices_;
  std::vector<std::unique_ptr<cn_message>> spare_messages_;  // with room for all that are kept
  bool watches_peers_ = false;
};

// Starts a thread that gets no signals.
std::thread start_without_signals(std::function<void()> body);

template <class Start>
void Endpoint::start(const OperationPointer& operation, Start&& start) {
  Lock lock = take_lock();
  require_open();
  try {
    begin(operation);
    start();
  } catch (...) {
    // The caller hears of it by the status alone.
    operation->done = nullptr;
    operation->flags = 0;
    if (operation->queue) operation->queue->take_back(operation);
    finish(operation, CN_CANCELLED, {});
    after_call(lock);
    throw;
  }
  after_call(lock);
}

}  // namespace commnet

// The handles of the C API.
struct cn_endpoint {
  explicit cn_endpoint(std::shared_ptr<commnet::Endpoint> owned) : owner(std::move(owned)), endpoint(owner) {}

  std::shared_ptr<commnet::Endpoint> owner;  // for the thread that closes it
  // For all others, which may use the handle meanwhile. Without a lock, which a child of a fork could find taken.
  const std::weak_ptr<commnet::Endpoint> endpoint;
};
struct cn_operation {
  commnet::OperationPointer operation;
};
struct cn_queue {
  std::shared_ptr<commnet::Queue> queue;
};
struct cn_memory {
  std::shared_ptr<commnet::Endpoint> endpoint;
  std::shared_ptr<const commnet::Memory> memory;
};

#endif  // COMMNET_CORE_ENDPOINT_H_
