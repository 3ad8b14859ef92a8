#include "program.h"

#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "program_cache.h"

namespace oneflow::opencl {
namespace {

// The text that precedes every program: the headers of ../grid/kernels, which the build concatenates (CMakeLists.txt).
namespace headers {
#include "texts/headers.inc"
}

struct ComputeType {
  of_dtype dtype;
  int bytes;
  const char* options;
};
constexpr ComputeType kComputeTypes[] = {
    {OF_FLOAT32, 4, "-DT=float -DT_STORED=float -DT_FLOATING=1 -DT_BOOL=0 -DT_UNSIGNED=0"},
    {OF_FLOAT64, 8, "-DT=double -DT_STORED=double -DT_FLOATING=1 -DT_BOOL=0 -DT_UNSIGNED=0"},
    {OF_INT32, 4, "-DT=int -DT_STORED=int -DT_WRAPPING=uint -DT_FLOATING=0 -DT_BOOL=0 -DT_UNSIGNED=0"},
    {OF_INT64, 8, "-DT=long -DT_STORED=long -DT_WRAPPING=ulong -DT_FLOATING=0 -DT_BOOL=0 -DT_UNSIGNED=0"},
    {OF_UINT32, 4, "-DT=uint -DT_STORED=uint -DT_WRAPPING=uint -DT_FLOATING=0 -DT_BOOL=0 -DT_UNSIGNED=1"},
    {OF_UINT64, 8, "-DT=ulong -DT_STORED=ulong -DT_WRAPPING=ulong -DT_FLOATING=0 -DT_BOOL=0 -DT_UNSIGNED=1"},
    {OF_BOOL, 1, "-DT=bool -DT_STORED=uchar -DT_WRAPPING=int -DT_FLOATING=0 -DT_BOOL=1 -DT_UNSIGNED=0"},
};

#define OF_NUMBER(dtype) " -D" #dtype "=" + std::to_string(dtype) +
std::string options_for(const Device& device, of_dtype compute, int32_t storage) {
  std::string options;
  for (const ComputeType& type : kComputeTypes) {
    if (type.dtype == compute)
      options = type.options + (" -DT_LANES=" + std::to_string(device.vector_bytes / type.bytes));
  }
  options += OF_NUMBER(OF_BOOL) OF_NUMBER(OF_UINT8) OF_NUMBER(OF_INT8) OF_NUMBER(OF_INT16) OF_NUMBER(OF_INT32)
                 OF_NUMBER(OF_INT64) OF_NUMBER(OF_UINT16) OF_NUMBER(OF_UINT32) OF_NUMBER(OF_UINT64)
                     OF_NUMBER(OF_FLOAT16) OF_NUMBER(OF_BFLOAT16) OF_NUMBER(OF_FLOAT32)
                         OF_NUMBER(OF_FLOAT64) " -DOF_ANY=" +
             std::to_string(OF_DTYPE_NONE);
  options += " -DS=" + std::to_string(storage) + " -DOF_IS_PROCESSOR=" + std::to_string(device.is_processor) +
             " -DOF_VECTOR_BYTES=" + std::to_string(device.vector_bytes);
  return options + " -cl-std=CL1.2 -w";
}
#undef OF_NUMBER

of_status build(of_device id, cl_program program, const char* name, const char* options) {
  const Device& device = device_of(id);
  const cl_int code = clBuildProgram(program, 1, &device.id, options, nullptr, nullptr);
  if (code == CL_SUCCESS) return OF_OK;
  size_t size = 0;
  clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  return grid::fail(OF_DEVICE_ERROR, "opencl:%d: could not compile the kernels of %s (OpenCL error %d): %s", id.index,
                    name, code, log.c_str());
}

// Returns the program of a cached binary, or NULL if there is none or the driver rejects it.
cl_program load_binary(const Device& device, const std::vector<unsigned char>& binary) {
  if (binary.empty()) return nullptr;
  const unsigned char* data = binary.data();
  const size_t size = binary.size();
  cl_int code = CL_SUCCESS;
  cl_program program = clCreateProgramWithBinary(device.context, 1, &device.id, &size, &data, nullptr, &code);
  if (code == CL_SUCCESS && clBuildProgram(program, 1, &device.id, "", nullptr, nullptr) == CL_SUCCESS) return program;
  if (program != nullptr) clReleaseProgram(program);
  return nullptr;
}

// Returns the binary of a compiled program; empty if the driver provides none.
std::vector<unsigned char> binary_of(cl_program program) {
  size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS) return {};
  std::vector<unsigned char> binary(size);
  unsigned char* data = binary.data();
  if (size == 0 || clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) != CL_SUCCESS) return {};
  return binary;
}

// Returns the program for a source text and its options, from the cache on disk, or compiled and written to it. Returns
// NULL and sets the error text on failure.
cl_program load(of_device id, const Program& program, const std::string& options) {
  const Device& device = device_of(id);
  const bool is_kept = keeps_programs(device);
  const std::string key = device.identity + "\n" + options + "\n" + headers::program.text + program.text;
  if (cl_program kept = is_kept ? load_binary(device, read_cached(key)) : nullptr) return kept;
  const char* texts[] = {headers::program.text, program.text};
  cl_int code = CL_SUCCESS;
  cl_program made = clCreateProgramWithSource(device.context, 2, texts, nullptr, &code);
  if (check(id, code, "create a program") != OF_OK) return nullptr;
  if (build(id, made, program.name, options.c_str()) != OF_OK) {
    clReleaseProgram(made);
    return nullptr;
  }
  if (!is_kept) return made;
  if (const std::vector<unsigned char> binary = binary_of(made); !binary.empty()) write_cached(key, binary);
  return made;
}

}  // namespace

Compiled* Kernel::compile(of_device device) {
  // All kernels of a source text for one compute type and storage share one program.
  static std::mutex mutex;
  static auto& programs = *new std::map<std::tuple<const Program*, int, int, int>, cl_program>;
  const std::lock_guard lock(mutex);
  if (Compiled* compiled = compiled_[device.index].load(std::memory_order_acquire)) return compiled;
  cl_program& program = programs[{&program_, compute_, storage_, device.index}];
  if (program == nullptr) program = load(device, program_, options_for(device_of(device), compute_, storage_));
  if (program == nullptr) return nullptr;
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, name_, &code);
  if (check(device, code, name_) != OF_OK) return nullptr;
  auto* compiled = new Compiled{kernel, {}};
  compiled_[device.index].store(compiled, std::memory_order_release);
  return compiled;
}

}  // namespace oneflow::opencl
