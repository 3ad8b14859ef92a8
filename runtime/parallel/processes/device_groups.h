// The communicators of devices that are open, and the work of collectives that is in their streams.
#ifndef ONEFLOW_PARALLEL_PROCESSES_DEVICE_GROUPS_H_
#define ONEFLOW_PARALLEL_PROCESSES_DEVICE_GROUPS_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "parallel/processes/group.h"
#include "parallel/processes/message.h"

namespace oneflow::processes {

class Engine;

// Throws the failure of a hook of a communicator, as CommunicationError; does nothing for OF_OK.
void check_communication(of_status status);

// A communicator of one device per rank of a group, for the operations of a lane. Its work has a stream of its own, so
// that it waits only for what it needs, and other work only for its results.
class DeviceGroup {
 public:
  using Clock = std::chrono::steady_clock;

  // Begins to open a communicator.
  DeviceGroup(const Group& group, uint32_t position, Stream& stream, const of_device_communicator_id& id);
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;
  // Aborts the communicator, unless it is closed.
  ~DeviceGroup();

  const Group& group() const { return group_; }
  Stream& stream() const { return stream_; }
  const of_communicator_hooks& hooks() const { return *stream_.device().table().communicator; }
  of_device_communicator communicator() const { return communicator_; }
  // Returns the number of a communicator, which all ranks derive from its id. It is positive.
  int64_t number() const { return number_; }

  // Returns whether it is open, and all work that was submitted is in the stream. Throws its failure, also later.
  bool is_ready() const;
  // Notes that work of a call has been submitted, whose operands are there after one event, and which ends at another.
  void note_work(const char* caller, std::shared_ptr<const Event> operands, std::shared_ptr<const Event> end);
  // Returns whether such work is not done yet.
  bool has_work();
  // Likewise. At exit, events of some devices give no answer any more: then there is none.
  bool has_work_at_exit();
  // Returns whether the first work that is not done could begin so long before `now`.
  bool is_overdue(Clock::time_point now, Clock::duration timeout);
  // Aborts the communicator. The next synchronization with work that is not done throws the failure.
  void fail(const std::string& text);
  void close();

 private:
  void abort();

  struct Work {
    const char* caller;
    std::shared_ptr<const Event> operands, end;
    std::optional<Clock::time_point> begun = {};  // when it was found that nothing keeps it from beginning
  };

  const Group& group_;
  Stream& stream_;
  int64_t number_;
  of_device_communicator communicator_ = nullptr;
  std::string failure_;
  std::deque<Work> work_;
};

// The communicators that an engine has open. Only its worker calls the functions.
class DeviceGroups {
 public:
  using Clock = DeviceGroup::Clock;

  explicit DeviceGroups(Engine& engine) : engine_(engine) {}

  // Returns the open communicator of a lane and a device; NULL if there is none.
  std::shared_ptr<DeviceGroup> find(uint64_t lane, const Device& device) const;
  // Returns the stream for the communicators of a lane and a device.
  Stream& stream(uint64_t lane, Device& device);
  // Adds a communicator that is open, in place of another one, which is closed. Throws its failure if it has failed
  // elsewhere meanwhile.
  void add(uint64_t lane, std::shared_ptr<DeviceGroup> opened);
  // Removes a communicator that has failed, or those of a lane, and tells the other ranks.
  void fail(const DeviceGroup& failed, const std::string& text);
  void fail(uint64_t lane, const std::string& text);

  // Removes those that fail by themselves, and those whose work is not done at its deadline.
  void check(Clock::time_point now);
  void note_lost(uint32_t rank, const std::string& text);
  // Takes what another rank tells of a communicator: it has failed, or is closed there.
  void take(const Message& message);
  // Returns whether there is work that is not done, before all are closed.
  bool have_work(Clock::time_point now);
  void close();

 private:
  struct Entry {
    uint64_t lane;
    std::shared_ptr<DeviceGroup> group;
    bool is_replaced = false;           // it is closed once its work is done
    std::vector<uint32_t> closed = {};  // the ranks that have closed it: they are not needed any more
  };

  // Calls failure_of(entry) for each, and removes those for which it returns a text, which may be told to the other
  // ranks. Removes those that are replaced and have no work.
  template <class FailureOf>
  void remove_failed(bool tells, FailureOf&& failure_of);
  void tell(const DeviceGroup& group, MessageKind kind, const std::string& text);

  Engine& engine_;
  std::vector<Entry> entries_;
  std::deque<std::pair<int64_t, std::string>> failures_;  // the last ones of which others have told, by number
  std::map<std::pair<uint64_t, Device*>, Stream*> streams_;
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_DEVICE_GROUPS_H_
