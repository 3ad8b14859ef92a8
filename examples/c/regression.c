/* Fits a line to points by gradient descent, using the typed functions of the C API.
 *
 *     cc regression.c $(pkg-config --cflags --libs oneflow) -o regression
 */
#include <oneflow/operators.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the library's error text if a call failed. */
static void check(of_status status) {
  if (status == OF_OK) return;
  fprintf(stderr, "%s: %s\n", of_status_name(status), of_last_error());
  exit(1);
}

/* Returns a tensor with a copy of the values. */
static of_tensor matrix(const float* values, int64_t rows, int64_t columns) {
  const int64_t sizes[2] = {rows, columns};
  of_tensor_source source = {.struct_size = sizeof source,
                             .dtype = OF_FLOAT32,
                             .device = of_default_device(),
                             .rank = 2,
                             .sizes = sizes,
                             .data = (void*)values,
                             .bytes = (uint64_t)(rows * columns) * sizeof(float)};
  of_tensor result = NULL;
  check(of_tensor_create(&source, &result));
  return result;
}

int main(void) {
  /* Points on y = 2 x + 1. The second column of x holds ones, the factor of the offset. */
  const float xs[] = {0, 1, 1, 1, 2, 1, 3, 1}, ys[] = {1, 3, 5, 7}, start[] = {0, 0};
  of_tensor x = matrix(xs, 4, 2), y = matrix(ys, 4, 1), weights = matrix(start, 2, 1);

  for (int step = 0; step < 500; ++step) {
    of_tensor guess, error, gradient, change;
    check(of_matmul(x, weights, &guess));
    check(of_sub(guess, y, &error));
    const of_tensor operands[2] = {x, error};
    /* The transposed x times the error. The last arguments are options for the order of more than two operands. */
    check(of_einsum("ij,ik->jk", operands, 2, "auto", NULL, &gradient));
    check(of_mul(gradient, 0.05, &change));
    check(of_sub_(weights, change)); /* in place */
    of_tensor_release(guess);
    of_tensor_release(error);
    of_tensor_release(gradient);
    of_tensor_release(change);
  }
  float fitted[2];
  check(of_tensor_read(weights, fitted, sizeof fitted));
  printf("slope %.3f, offset %.3f\n", fitted[0], fitted[1]);

  /* A call that fails returns a status and sets an error text; it has no other effect. */
  of_tensor result = NULL;
  of_status status = of_matmul(x, x, &result);
  printf("%s: %s\n", of_status_name(status), of_last_error());

  of_tensor_release(x);
  of_tensor_release(y);
  of_tensor_release(weights);
  return 0;
}
