// The program on another host: `oneflow-run --node` runs the ranks of the host for the launcher, with which its
// standard input and output connect it.
#ifndef ONEFLOW_LAUNCH_NODE_H_
#define ONEFLOW_LAUNCH_NODE_H_

namespace oneflow::launch {

// Returns the exit status.
int run_node();

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_NODE_H_
