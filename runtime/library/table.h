// The table of the functions that liboneflow offers to libraries of operators.
#ifndef ONEFLOW_LIBRARY_TABLE_H_
#define ONEFLOW_LIBRARY_TABLE_H_

#include "library/host.h"

namespace oneflow {

extern const LibraryHost library_host;

}  // namespace oneflow

#endif  // ONEFLOW_LIBRARY_TABLE_H_
