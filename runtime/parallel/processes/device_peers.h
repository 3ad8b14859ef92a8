// Which communicators of devices the ranks of a job have. A rank finds out when it first passes a tensor of a device to
// a collective of a group: it asks the others, whose engines answer.
#ifndef ONEFLOW_PARALLEL_PROCESSES_DEVICE_PEERS_H_
#define ONEFLOW_PARALLEL_PROCESSES_DEVICE_PEERS_H_

#include <oneflow/types.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "parallel/processes/group.h"
#include "parallel/processes/message.h"
#include "parallel/processes/task.h"

namespace oneflow::processes {

class Engine;
class Operation;

class DevicePeers {
 public:
  explicit DevicePeers(Engine& engine) : engine_(engine) {}

  // Returns whether all ranks of a group have the same communicator for devices of the type of `device`. Waits for the
  // answers of those that it has not asked yet.
  bool have_same(const Group& group, of_device device);

  // ---- for the worker

  void take(const Message& message);
  // Answers those that have asked. Returns whether there were any.
  bool answer();

 private:
  // Returns the version of the communicator of a device type; "" if this process has none that it can use.
  std::string own_version(const std::string& type) const;
  void ask(uint32_t rank, const std::string& type);
  // Asks ranks, and clears `same` unless all have a version.
  Task compare(Operation& operation, std::vector<uint32_t> ranks, std::string type, std::string version, bool& same);

  Engine& engine_;
  std::mutex mutex_;  // guards found_
  std::map<std::pair<const Group*, int32_t>, bool> found_;

  // Of the worker.
  std::map<std::pair<uint32_t, std::string>, std::string> versions_;  // by rank and type
  std::vector<std::pair<uint32_t, std::string>> asked_;               // by others, likewise
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_DEVICE_PEERS_H_
