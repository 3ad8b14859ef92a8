// The version of Node-API that the addon declares. It is compiled for a stable one.
//
// A stable version calls the finalizers of garbage-collected objects when the program returns to the event loop: a
// synchronous loop that makes tensors would fill the memory. The experimental version calls them during the garbage
// collection. It is declared where Node.js has such finalizers; elsewhere Environment searches for the objects that are
// gone.
#pragma once

namespace oneflow::node {

// Returns whether finalizers run during the garbage collection. The environment variable ONEFLOW_STABLE_NODE_API, if it
// is set, makes it false everywhere.
bool finalizers_run_during_collection();

}  // namespace oneflow::node
