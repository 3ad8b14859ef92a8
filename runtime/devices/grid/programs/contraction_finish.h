// The last step of contractions whose sums are computed in scratch memory. S is the dtype of C and of the bias.

// Computes C = alpha * (the sum of the parts) + beta * C + bias, rounded to S once.
OF_KERNEL(class T, int S)
contract_finish(OF_ARGUMENT of_space space, OF_GLOBAL const void* sums, OF_ARGUMENT of_strides sums_strides,
                const uint32_t parts, const int64_t part_step, OF_GLOBAL void* c, OF_ARGUMENT of_strides c_strides,
                OF_GLOBAL const void* bias, OF_ARGUMENT of_strides bias_strides, const T alpha, const T beta,
                const int32_t adds_c) {
  uint32_t rest = OF_GROUP * OF_ITEMS + OF_ITEM;
  if (rest >= space.count) return;
  int64_t sums_at = 0, c_at = 0, bias_at = 0;
  for (int d = 0; d < space.rank; ++d) {
    const int64_t at = of_coordinate(&space, d, &rest);
    sums_at += at * sums_strides.dims[d];
    c_at += at * c_strides.dims[d];
    bias_at += at * bias_strides.dims[d];
  }
  T sum = (T)0;
  for (uint32_t part = 0; part < parts; ++part) sum = sum + ((OF_GLOBAL const T*)sums)[sums_at + part * part_step];
  sum = alpha * sum;
  if (adds_c) sum = OF_MULTIPLY_ADD(beta, of_load OF_OF(T)(S, c, c_at), sum);
  if (bias) sum = sum + of_load OF_OF(T)(S, bias, bias_at);
  of_store OF_OF(T)(S, c, c_at, sum);
}
