// How liboneflow calls a side library: a library over its public headers that it loads when it is first needed (see
// capi/side_library.h). Errors cross the boundary as a status and a text.
#ifndef ONEFLOW_SIDE_ENTRY_H_
#define ONEFLOW_SIDE_ENTRY_H_

// Gets the text of an error.
using of_side_report = void (*)(void* context, const char* text);

#endif  // ONEFLOW_SIDE_ENTRY_H_
