// How many processors this process may use.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_PROCESSORS_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_PROCESSORS_H_

namespace oneflow::cpu {

// Returns how many threads of this process can run at the same time, by its affinity and the quotas of its control
// groups. A quota that is not an integer is rounded up, as the Java and Go runtimes do: one thread less would leave a
// part of it unused.
int usable_processors();

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_PROCESSORS_H_
