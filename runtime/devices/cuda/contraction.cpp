#include "contraction.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "../grid/contraction.h"
#include "../grid/driver.h"
#include "../grid/entries.h"
#include "../grid/prepared.h"
#include "arrangement.h"
#include "lt_plans.h"

namespace oneflow::cuda {
namespace {

std::atomic<bool> allows_tf32{false};
constexpr char kAllowTf32[] = "cuda_allow_tf32";

bool is_floating(of_dtype dtype) { return dtype >= OF_FLOAT16 && dtype <= OF_FLOAT64; }
bool is_byte(of_dtype dtype) { return dtype == OF_INT8 || dtype == OF_UINT8; }

// The most products of bytes whose sum is certain to fit into int32.
constexpr int64_t kMostBytes = (int64_t{1} << 17) - 1;

// The state of a contraction, with the plan of its last product. The plan is reused without a lookup if the next
// product has the same shape, which includes the alignment of addresses.
struct Prepared final : grid::Prepared {
  bool is_arranged = false;
  Arrangement arrangement;
  Shape shape{};
  lt::Handle handle = nullptr;
  std::shared_ptr<Plan> plan;
  bool takes_lists = true;  // false once the library rejected a list
};

// Returns the plan for a shape; NULL if the library does not support it.
const Plan* plan_for(const lt::Library& library, of_device device, const Shape& shape, Prepared& kept) {
  if (kept.plan == nullptr || std::memcmp(&kept.shape, &shape, sizeof shape) != 0) {
    Plans& plans = plans_of(device);
    const std::lock_guard lock(plans.mutex());
    kept.handle = plans.handle(library);
    if (kept.handle == nullptr) return nullptr;
    kept.plan = plans.plan_for(library, shape);
    kept.shape = shape;
  }
  return kept.plan->is_supported ? kept.plan.get() : nullptr;
}

// The library's workspace, aligned as it demands.
class Workspace {
 public:
  explicit Workspace(const of_kernel_context& context) : memory_(context) {}

  of_status allocate(uint64_t bytes) { return bytes == 0 ? OF_OK : memory_.allocate(bytes + kAlignment - 1); }
  void* data() const {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    return reinterpret_cast<void*>(grid::divide_up(address, kAlignment) * kAlignment);
  }

 private:
  static constexpr uintptr_t kAlignment = 256;

  grid::Scratch memory_;
};

// Calls the library with its operands A, B and D, or with lists of their addresses. Returns OF_UNSUPPORTED, without an
// error text, if it rejects the plan.
of_status multiply(const lt::Library& library, const of_kernel_context& context, const grid::Problem& problem,
                   Prepared& kept, const void* a, const void* b, void* d, const Workspace& workspace) {
  Plan& plan = *kept.plan;
  alignas(8) unsigned char alpha[8], beta[8];
  grid::put_factor(problem, problem.alpha, alpha);
  grid::put_factor(problem, problem.beta, beta);
  const int status =
      library.cublasLtMatmul(kept.handle, plan.description, alpha, a, plan.a, b, plan.b, beta, d, plan.d, d, plan.d,
                             &plan.algorithm, workspace.data(), plan.workspace, stream_of(context.stream).queue);
  if (status == 0) return OF_OK;
  const of_status lost = check(context.device, cudaGetLastError(), "multiply matrices");
  if (lost != OF_OK) return lost;
  // The library rejects some of the algorithms that it recommends itself. Nothing has been launched.
  plan.is_supported = false;
  return OF_UNSUPPORTED;
}

// Computes all products of a batch in one call. Returns OF_UNSUPPORTED, without an error text, where a list is slower
// or the library does not support it.
of_status multiply_list(const lt::Library& library, const of_kernel_context& context, const grid::Problem& problem,
                        const MatrixProduct& product, Prepared& kept) {
  Shape shape;
  ProductList list;
  if (!kept.takes_lists || !make_list(problem, product, shape, list)) return OF_UNSUPPORTED;
  const Plan* plan = plan_for(library, context.device, shape, kept);
  kept.takes_lists = plan != nullptr;
  if (plan == nullptr) return OF_UNSUPPORTED;
  Workspace workspace(context);
  grid::Scratch memory(context);
  of_status status = workspace.allocate(plan->workspace);
  if (status == OF_OK) status = memory.allocate(static_cast<uint64_t>(list.count) * list.kOperands * sizeof(char*));
  auto** addresses = static_cast<char**>(memory.data());
  if (status == OF_OK) status = write_addresses(context, list, addresses);
  if (status != OF_OK) return status;
  return multiply(library, context, problem, kept, addresses, addresses + list.count, addresses + 2 * list.count,
                  workspace);
}

// Computes a problem by the library. Returns OF_UNSUPPORTED, without an error text, where the library cannot.
of_status multiply(const lt::Library& library, const of_kernel_context& context, const grid::Problem& problem,
                   Prepared& kept) {
  MatrixProduct product;
  if (!make_product(problem, product)) return OF_UNSUPPORTED;
  product.shape.allows_tf32 = allows_tf32;
  const OnDevice on(context.device);
  if (on.status() != OF_OK) return on.status();
  of_status status = multiply_list(library, context, problem, product, kept);
  if (status != OF_UNSUPPORTED) return status;
  const Plan* plan = plan_for(library, context.device, product.shape, kept);
  if (plan == nullptr) return OF_UNSUPPORTED;
  // Allocates without holding the lock, because the runtime may request a garbage collection of a front end.
  Workspace workspace(context);
  if (status = workspace.allocate(plan->workspace); status != OF_OK) return status;
  std::unique_lock lock(plans_of(context.device).mutex(), std::defer_lock);
  if (product.bias != nullptr) {
    lock.lock();
    library.cublasLtMatmulDescSetAttribute(plan->description, lt::kBiasPointer, &product.bias, sizeof product.bias);
  }
  const int64_t item = grid::item_size(problem.dtype), d_item = grid::item_size(problem.result_dtype());
  Outer outer(product);
  do {
    status =
        multiply(library, context, problem, kept, product.a + outer.offset(grid::kB) * item,
                 product.b + outer.offset(grid::kA) * item, product.d + outer.offset(grid::kC) * d_item, workspace);
  } while (status == OF_OK && outer.next());
  return status;
}

// Multiplies int8 and uint8. Results wrap around, whereas the library's int8 results are saturated: therefore the
// library computes int32 sums in scratch memory.
of_status multiply_bytes(const lt::Library& library, const of_kernel_context& context, Prepared& kept) {
  const grid::Problem& problem = kept.problem;
  if (problem.depth.count > kMostBytes || problem.result_count() == 0) return OF_UNSUPPORTED;
  grid::Scratch memory(context);
  const auto bytes = static_cast<uint64_t>(problem.result_count()) * grid::item_size(problem.type);
  if (memory.allocate(bytes) != OF_OK) return OF_UNSUPPORTED;
  const grid::Problem sums = grid::sums_of(problem, memory.data());
  const of_status status = multiply(library, context, sums, kept);
  return status == OF_OK ? grid::finish(problem, context, sums, 1) : status;
}

// Copies an operand into another layout, or back.
of_status copy_operand(const of_kernel_context& context, of_dtype dtype, const OperandCopy& copy, const void* from,
                       const int64_t* from_strides, void* to, const int64_t* to_strides) {
  const of_kernel_tensor source{const_cast<void*>(from), dtype, copy.rank, copy.sizes, from_strides, {}};
  const of_kernel_tensor result{to, dtype, copy.rank, copy.sizes, to_strides, {}};
  of_kernel_context call = context;
  call.inputs = &source;
  call.outputs = &result;
  call.input_count = call.output_count = 1;
  return grid::run_copy(0, call);
}

// Multiplies floating-point numbers, after copies of the operands into a layout that the library supports.
of_status multiply_arranged(const lt::Library& library, const of_kernel_context& context, Prepared& kept) {
  if (!kept.is_arranged) kept.arrangement = arrange(kept.problem);
  kept.is_arranged = true;
  Arrangement& arrangement = kept.arrangement;
  if (!arrangement.uses_library) return OF_UNSUPPORTED;
  grid::Problem& product = arrangement.problem;
  std::copy_n(kept.problem.operands, grid::kSides, product.operands);
  if (arrangement.is_swapped) std::swap(product.operands[grid::kA], product.operands[grid::kB]);
  grid::Scratch copies[] = {grid::Scratch(context), grid::Scratch(context), grid::Scratch(context)};
  const char* const c = product.operands[grid::kC];
  for (const grid::Side side : {grid::kA, grid::kB, grid::kC}) {
    const OperandCopy& copy = arrangement.copies[side];
    if (!copy.is_needed()) continue;
    const uint64_t bytes = static_cast<uint64_t>(copy.count) * grid::item_size(product.dtype);
    if (copies[side].allocate(bytes) != OF_OK) return OF_UNSUPPORTED;
    const char* const original = std::exchange(product.operands[side], static_cast<const char*>(copies[side].data()));
    if (side == grid::kC) continue;
    const of_status status =
        copy_operand(context, product.dtype, copy, original, copy.before, copies[side].data(), copy.after);
    if (status != OF_OK) return status;
  }
  const of_status status = multiply(library, context, product, kept);
  if (status == OF_UNSUPPORTED) arrangement.uses_library = false;
  const OperandCopy& result = arrangement.copies[grid::kC];
  if (status != OF_OK || !result.is_needed()) return status;
  return copy_operand(context, product.dtype, result, product.operands[grid::kC], result.after, const_cast<char*>(c),
                      result.before);
}

of_status multiply_by_library(const of_kernel_context& context, Prepared& kept) {
  const bool bytes = is_byte(kept.problem.dtype);
  if (!bytes && !is_floating(kept.problem.dtype)) return OF_UNSUPPORTED;
  const lt::Library* library = lt::library();
  if (library == nullptr) return OF_UNSUPPORTED;
  return bytes ? multiply_bytes(*library, context, kept) : multiply_arranged(*library, context, kept);
}

}  // namespace

of_status contract(const of_contraction* contraction) try {
  Prepared own;
  Prepared* kept = grid::prepare(*contraction, own);
  if (kept == nullptr) return grid::unknown_contraction();
  const of_kernel_context context = grid::launch_context(*contraction);
  const of_status status = multiply_by_library(context, *kept);
  return status != OF_UNSUPPORTED ? status : grid::contract(kept->problem, context);
} catch (const std::bad_alloc&) {
  return grid::fail(OF_OUT_OF_MEMORY, "cuda:%d: no memory for the plan of a product", contraction->device.index);
}

of_status set_option(const char* name, int64_t value) {
  if (std::strcmp(name, kAllowTf32) != 0) return OF_UNSUPPORTED;
  allows_tf32 = value != 0;
  return OF_OK;
}

of_status get_option(const char* name, int64_t* value) {
  if (std::strcmp(name, kAllowTf32) != 0) return OF_UNSUPPORTED;
  *value = allows_tf32;
  return OF_OK;
}

}  // namespace oneflow::cuda
