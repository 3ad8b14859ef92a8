// The operators of libraries that are loaded while the process runs. Thread-safe: what is found is never changed.
#ifndef ONEFLOW_DISPATCH_LOADED_OPERATORS_H_
#define ONEFLOW_DISPATCH_LOADED_OPERATORS_H_

#include <oneflow/device_plugin.h>

#include <span>
#include <string_view>

#include "dispatch/operator.h"

namespace oneflow {

// Finds the kernel of a library's operator for a device, whose table has the functions that run it. Returns
// OF_UNSUPPORTED if there is none.
using KernelFinder = of_status(const of_device_table& table, of_device device, const char* name, uint64_t kernel_id,
                               of_dtype compute, of_kernel_entry* entry) noexcept;

// The kernels that a library has for the devices of a type.
struct DeviceKernels {
  const char* device_type;
  KernelFinder* find;
};

// Adds the operators of a library and their gradients. Calls may come from one thread at a time. Throws Unsupported,
// and adds nothing, if an operator of one of the names exists.
void add_operators(std::span<const Schema> operators, std::span<const Schema> gradients,
                   std::span<const DeviceKernels> kernels);

// Returns the operators of all libraries, in the order in which they were loaded, without their gradients.
std::span<const Operator* const> loaded_operators();
// Returns an operator or a gradient; null if there is none.
const Operator* find_loaded_operator(std::string_view name);
// Returns what finds the kernels of an operator for a type of device; null if it is not that of a library, or the
// library has none for this type.
KernelFinder* find_loaded_kernels(const Operator& op, std::string_view device_type);

}  // namespace oneflow

#endif  // ONEFLOW_DISPATCH_LOADED_OPERATORS_H_
