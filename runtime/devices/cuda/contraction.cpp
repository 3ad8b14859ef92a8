#include "contraction.h"

#include <cstring>
#include <mutex>
#include <new>

#include "../grid/contraction.h"
#include "../grid/driver.h"
#include "../grid/prepared.h"
#include "lt_plans.h"

namespace oneflow::cuda {
namespace {

std::atomic<bool> allows_tf32{false};
constexpr char kAllowTf32[] = "cuda_allow_tf32";

bool is_floating(of_dtype dtype) { return dtype >= OF_FLOAT16 && dtype <= OF_FLOAT64; }
bool is_byte(of_dtype dtype) { return dtype == OF_INT8 || dtype == OF_UINT8; }

// Sums of so many products of bytes stay within int32.
constexpr int64_t kMostBytes = (int64_t{1} << 17) - 1;

// The plan of the last product besides: it serves the next one of the same shape, addresses of the same alignment
// included, without a look at the plans of all.
struct Prepared final : grid::Prepared {
  Shape shape{};
  lt::Handle handle = nullptr;
  std::shared_ptr<Plan> plan;
};

// OF_UNSUPPORTED, without a text, where the library has nothing for this product.
of_status multiply(const lt::Library& library, const of_kernel_context& context, const grid::Problem& problem,
                   Prepared& kept) {
  MatrixProduct product;
  if (!make_product(problem, product)) return OF_UNSUPPORTED;
  product.shape.allows_tf32 = allows_tf32;
  const OnDevice on(context.device);
  if (on.status() != OF_OK) return on.status();
  Plans& plans = plans_of(context.device);
  if (kept.plan == nullptr || std::memcmp(&kept.shape, &product.shape, sizeof kept.shape) != 0) {
    const std::lock_guard lock(plans.mutex());
    kept.handle = plans.handle(library);
    if (kept.handle == nullptr) return OF_UNSUPPORTED;
    kept.plan = plans.plan_for(library, product.shape);
    kept.shape = product.shape;
  }
  const Plan* plan = kept.plan.get();
  if (!plan->is_known) return OF_UNSUPPORTED;
  // Not with the lock: the runtime may ask a front end to collect its garbage first.
  grid::Scratch workspace(context);
  if (plan->workspace > 0) {
    if (const of_status status = workspace.allocate(plan->workspace); status != OF_OK) return status;
  }
  std::unique_lock lock(plans.mutex(), std::defer_lock);
  if (product.bias != nullptr) {
    lock.lock();
    library.cublasLtMatmulDescSetAttribute(plan->description, lt::kBiasPointer, &product.bias, sizeof product.bias);
  }
  alignas(8) unsigned char alpha[8], beta[8];
  grid::put_factor(problem, problem.alpha, alpha);
  grid::put_factor(problem, problem.beta, beta);
  const int64_t item = grid::item_size(problem.dtype), d_item = grid::item_size(problem.result_dtype());
  Outer outer(product);
  do {
    char* d = product.d + outer.offset(grid::kC) * d_item;
    const int status = library.cublasLtMatmul(
        kept.handle, plan->description, alpha, product.a + outer.offset(grid::kB) * item, plan->a,
        product.b + outer.offset(grid::kA) * item, plan->b, beta, d, plan->d, d, plan->d, &plan->algorithm,
        workspace.data(), plan->workspace, stream_of(context.stream).queue);
    if (status != 0) {
      if (const of_status lost = check(context.device, cudaGetLastError(), "multiply matrices"); lost != OF_OK)
        return lost;
      return grid::fail(OF_DEVICE_ERROR, "cuda:%d: could not multiply matrices (cuBLASLt status %d)",
                        context.device.index, status);
    }
  } while (outer.next());
  return OF_OK;
}

// The library's results of bytes are saturated, ours wrap around: it adds up in int32, in memory of their own.
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

of_status multiply_by_library(const of_kernel_context& context, Prepared& kept) {
  const bool bytes = is_byte(kept.problem.dtype);
  if (!bytes && !is_floating(kept.problem.dtype)) return OF_UNSUPPORTED;
  const lt::Library* library = lt::library();
  if (library == nullptr) return OF_UNSUPPORTED;
  return bytes ? multiply_bytes(*library, context, kept) : multiply(*library, context, kept.problem, kept);
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
