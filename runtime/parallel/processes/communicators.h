// The libraries of communicators.
#ifndef ONEFLOW_PARALLEL_PROCESSES_COMMUNICATORS_H_
#define ONEFLOW_PARALLEL_PROCESSES_COMMUNICATORS_H_

#include <oneflow/communicator.h>

#include <string>

namespace oneflow::processes {

// Returns the table of a communicator by its name, for one of those beside liboneflow, or by the path of its library.
// Throws Unsupported if it cannot be loaded.
const of_communicator_table& find_communicator(const std::string& name);

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_COMMUNICATORS_H_
