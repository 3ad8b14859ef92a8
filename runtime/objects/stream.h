// Streams as objects.
#ifndef ONEFLOW_OBJECTS_STREAM_H_
#define ONEFLOW_OBJECTS_STREAM_H_

#include <oneflow/oneflow.h>

#include <memory>

#include "base/ref.h"

namespace oneflow::objects {

// A stream that a program has created: once no object refers to it, it can be lent again.
class StreamLoan;

// A reference to a stream.
struct Stream : RefCounted<Stream> {
  explicit Stream(of_stream opened) : stream(opened) {}

  const of_stream stream;
  std::shared_ptr<StreamLoan> loan;  // NULL for a default stream

  void destroy() { delete this; }
};

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_STREAM_H_
