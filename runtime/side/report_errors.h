// Turns the exceptions of a side library into what liboneflow gets of them.
#ifndef ONEFLOW_SIDE_REPORT_ERRORS_H_
#define ONEFLOW_SIDE_REPORT_ERRORS_H_

#include <exception>
#include <new>
#include <oneflow/oneflow.hpp>

#include "side/entry.h"

namespace oneflow {

// Runs a function, and returns its status. Reports the text of its exception.
template <class Function>
of_status report_errors(of_side_report report, void* context, Function&& function) noexcept {
  try {
    function();
    return OF_OK;
  } catch (const Error& error) {
    report(context, error.what());
    return error.status();
  } catch (const std::bad_alloc&) {
    report(context, "out of memory");
    return OF_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    report(context, error.what());
    return OF_INTERNAL_ERROR;
  }
}

}  // namespace oneflow

#endif  // ONEFLOW_SIDE_REPORT_ERRORS_H_
