#include "lt_plans.h"

namespace oneflow::cuda {
namespace {

// The workspace size that NVIDIA recommends for Hopper.
constexpr uint64_t kMostWorkspace = uint64_t{32} << 20;

struct Types {
  lt::Type factors, result, scale;
  lt::Compute compute;
};

Types types_of(const Shape& shape) {
  switch (shape.dtype) {
    case OF_INT8:
      return {lt::kInt8, lt::kInt32, lt::kInt32, lt::kComputeInt32};
    case OF_FLOAT16:
      return {lt::kFloat16, lt::kFloat16, lt::kFloat32, lt::kCompute32};
    case OF_BFLOAT16:
      return {lt::kBfloat16, lt::kBfloat16, lt::kFloat32, lt::kCompute32};
    case OF_FLOAT64:
      return {lt::kFloat64, lt::kFloat64, lt::kFloat64, lt::kCompute64};
    default:
      return {lt::kFloat32, lt::kFloat32, lt::kFloat32, shape.allows_tf32 != 0 ? lt::kComputeTf32 : lt::kCompute32};
  }
}

int make_layout(const lt::Library& library, const Shape& shape, lt::Type type, int64_t rows, int64_t columns,
                int64_t leading, int64_t step, lt::Layout* layout) {
  int status = library.cublasLtMatrixLayoutCreate(layout, type, static_cast<uint64_t>(rows),
                                                  static_cast<uint64_t>(columns), leading);
  if (status != 0 || shape.batch == 1) return status;
  const auto count = static_cast<int32_t>(shape.batch);
  status = library.cublasLtMatrixLayoutSetAttribute(*layout, lt::kBatchCount, &count, sizeof count);
  if (status != 0) return status;
  if (shape.is_listed == 0)
    return library.cublasLtMatrixLayoutSetAttribute(*layout, lt::kBatchStride, &step, sizeof step);
  const int32_t mode = lt::kAddressList;
  return library.cublasLtMatrixLayoutSetAttribute(*layout, lt::kBatchMode, &mode, sizeof mode);
}

int describe(const lt::Library& library, const Shape& shape, Plan& plan) {
  const Types types = types_of(shape);
  int status = library.cublasLtMatmulDescCreate(&plan.description, types.compute, types.scale);
  const auto set = [&](lt::DescriptionAttribute attribute, const auto& value) {
    if (status == 0) status = library.cublasLtMatmulDescSetAttribute(plan.description, attribute, &value, sizeof value);
  };
  const int32_t a = shape.a_is_transposed != 0 ? lt::kTransposed : lt::kPlain;
  const int32_t b = shape.b_is_transposed != 0 ? lt::kTransposed : lt::kPlain;
  set(lt::kTransposeA, a);
  set(lt::kTransposeB, b);
  if (shape.has_bias != 0) set(lt::kEpilogue, lt::kEpilogueBias);
  return status;
}

int choose(const lt::Library& library, lt::Handle handle, const Shape& shape, Plan& plan) {
  lt::Preference preference = nullptr;
  int status = library.cublasLtMatmulPreferenceCreate(&preference);
  if (status != 0) return status;
  const auto set = [&](lt::PreferenceAttribute attribute, const auto& value) {
    if (status == 0) status = library.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value);
  };
  set(lt::kWorkspace, kMostWorkspace);
  set(lt::kReductionSchemes, lt::kExactReductions);
  set(lt::kAlignmentA, static_cast<uint32_t>(shape.alignment_a));
  set(lt::kAlignmentB, static_cast<uint32_t>(shape.alignment_b));
  set(lt::kAlignmentC, static_cast<uint32_t>(shape.alignment_d));
  set(lt::kAlignmentD, static_cast<uint32_t>(shape.alignment_d));
  lt::Heuristic best{};
  int found = 0;
  if (status == 0)
    status = library.cublasLtMatmulAlgoGetHeuristic(handle, plan.description, plan.a, plan.b, plan.d, plan.d,
                                                    preference, 1, &best, &found);
  library.cublasLtMatmulPreferenceDestroy(preference);
  if (status != 0 || found == 0 || best.status != 0) return 1;
  plan.algorithm = best.algorithm;
  plan.workspace = best.workspace;
  return 0;
}

}  // namespace

Plan::~Plan() {
  const lt::Library& library = *lt::library();
  for (const lt::Layout layout : {a, b, d}) {
    if (layout != nullptr) library.cublasLtMatrixLayoutDestroy(layout);
  }
  if (description != nullptr) library.cublasLtMatmulDescDestroy(description);
}

lt::Handle Plans::handle(const lt::Library& library) {
  if (!was_tried_) {
    was_tried_ = true;
    if (library.cublasLtCreate(&handle_) != 0) handle_ = nullptr;
  }
  return handle_;
}

std::shared_ptr<Plan> Plans::plan_for(const lt::Library& library, const Shape& shape) {
  if (const auto known = plans_.find(shape); known != plans_.end()) return known->second;
  if (plans_.size() >= kMost) plans_.clear();
  auto plan = std::make_shared<Plan>();
  const bool a = shape.a_is_transposed != 0, b = shape.b_is_transposed != 0;
  int status = describe(library, shape, *plan);
  const Types types = types_of(shape);
  const auto add_layout = [&](lt::Type type, int64_t rows, int64_t columns, int64_t leading, int64_t step,
                              lt::Layout* layout) {
    if (status == 0) status = make_layout(library, shape, type, rows, columns, leading, step, layout);
  };
  add_layout(types.factors, a ? shape.k : shape.m, a ? shape.m : shape.k, shape.leading_a, shape.step_a, &plan->a);
  add_layout(types.factors, b ? shape.n : shape.k, b ? shape.k : shape.n, shape.leading_b, shape.step_b, &plan->b);
  add_layout(types.result, shape.m, shape.n, shape.leading_d, shape.step_d, &plan->d);
  if (status == 0) status = choose(library, handle_, shape, *plan);
  plan->is_supported = status == 0;
  plans_.emplace(shape, plan);
  return plan;
}

Plans& plans_of(of_device device) {
  static Plans* const plans = new Plans[kMostDevices];  // never destroyed: the driver may be unloaded before
  return plans[device.index];
}

}  // namespace oneflow::cuda
