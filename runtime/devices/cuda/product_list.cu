#include "../grid/driver.h"
#include "device.h"
#include "product_list.h"

namespace oneflow::cuda {
namespace {

constexpr uint32_t kItems = 256;

__global__ void fill(ProductList list, char** addresses) {
  const int64_t product = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (product >= list.count) return;
  for (int operand = 0; operand < ProductList::kOperands; ++operand)
    addresses[operand * list.count + product] = list.address(operand, product);
}

}  // namespace

of_status write_addresses(const of_kernel_context& context, const ProductList& list, char** addresses) {
  fill<<<grid::groups_for(list.count, kItems), kItems, 0, stream_of(context.stream).queue>>>(list, addresses);
  return check(context.device, cudaGetLastError(), "list the products of a batch");
}

}  // namespace oneflow::cuda
