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

  // Returns why the ranks of a group cannot exchange tensors between devices of the type of `device`: "" if all have
  // the same communicator, and there is a device for each. Waits for the answers of ranks that it has not asked yet.
  std::string why_not(const Group& group, of_device device);

  // ---- for the worker

  void take(const Message& message);
  // Answers those that have asked. Returns whether there were any.
  bool answer();

 private:
  // What a rank has for a type of devices.
  struct Links {
    std::string version;                 // of the communicator; "": none
    std::string why_none = {};           // then
    std::vector<uint64_t> devices = {};  // their identities
  };

  Links own_links(const std::string& type) const;
  void ask(uint32_t rank, const std::string& type);
  // Asks ranks for theirs, and adds those of all to `links`, in the order of the ranks.
  Task collect(Operation& operation, std::vector<uint32_t> ranks, std::string type, Links own,
               std::vector<Links>& links);

  Engine& engine_;
  std::mutex mutex_;  // guards found_
  std::map<std::pair<const Group*, int32_t>, std::string> found_;

  // Of the worker.
  std::map<std::pair<uint32_t, std::string>, Links> links_;  // by rank and type
  std::vector<std::pair<uint32_t, std::string>> asked_;      // by others, likewise
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_DEVICE_PEERS_H_
