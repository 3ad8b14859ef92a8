/* Passes invalid input of every kind to the C API. Each call must return an error status, must not end the process, and
 * must leave the library usable. Prints the number of checks; exits with 1 at the first failed check. */
#include <oneflow/operator_library.h>
#include <oneflow/operators.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks = 0;

static void expect(bool holds, int line, const char* what) {
  ++checks;
  if (holds) return;
  fprintf(stderr, "line %d: %s; last error: %s\n", line, what, of_last_error());
  exit(1);
}
#define EXPECT(condition) expect((condition), __LINE__, #condition)
/* Checks that the call fails with this status and sets an error text. */
#define EXPECT_STATUS(status, call)                                       \
  do {                                                                    \
    of_status got = (call);                                               \
    if (got != (status)) fprintf(stderr, "status %d\n", (int)got);        \
    expect(got == (status), __LINE__, #call " gives " #status);           \
    expect(of_last_error()[0] != '\0', __LINE__, "an error text is set"); \
  } while (0)
#define EXPECT_FAILS(call)                                                \
  do {                                                                    \
    expect((call) != OF_OK, __LINE__, #call " fails");                    \
    expect(of_last_error()[0] != '\0', __LINE__, "an error text is set"); \
  } while (0)

static of_tensor_source describe(of_dtype dtype, int32_t rank, const int64_t* sizes, void* data, uint64_t bytes) {
  of_tensor_source source;
  memset(&source, 0, sizeof source);
  source.struct_size = sizeof source;
  source.dtype = dtype;
  source.rank = rank;
  source.sizes = sizes;
  source.data = data;
  source.bytes = bytes;
  return source;
}

/* A deleter that does nothing. */
static void keep(void* context) { (void)context; }

static of_tensor make_tensor(void) {
  static float data[6] = {1, 2, 3, 4, 5, 6};
  static const int64_t sizes[2] = {2, 3};
  of_tensor_source source = describe(OF_FLOAT32, 2, sizes, data, sizeof data);
  of_tensor tensor = NULL;
  EXPECT(of_tensor_create(&source, &tensor) == OF_OK);
  return tensor;
}

static of_value tensor_value(of_tensor tensor) {
  of_value value;
  memset(&value, 0, sizeof value);
  value.kind = OF_VALUE_TENSOR;
  value.as.tensor = tensor;
  return value;
}

static void test_tensor_sources(void) {
  float data[6] = {0};
  const int64_t sizes[2] = {2, 3}, negative[2] = {2, -3}, huge[3] = {INT64_MAX, INT64_MAX, 2};
  const int64_t far[2] = {1000000, 1}, reversed[2] = {-3, 1}, overflowing[2] = {INT64_MAX, INT64_MAX};
  of_tensor tensor = NULL;
  of_tensor_source source = describe(OF_FLOAT32, 2, sizes, data, sizeof data);

  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_tensor_create(NULL, &tensor));
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_tensor_create(&source, NULL));
  source.struct_size = 4;
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_tensor_create(&source, &tensor));

  source = describe((of_dtype)99, 2, sizes, data, sizeof data);
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source = describe((of_dtype)-1, 2, sizes, data, sizeof data);
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source = describe(OF_FLOAT32, -1, sizes, data, sizeof data);
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source = describe(OF_FLOAT32, 1000000, sizes, data, sizeof data);
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source = describe(OF_FLOAT32, 2, NULL, data, sizeof data);
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source = describe(OF_FLOAT32, 2, negative, data, sizeof data);
  EXPECT_STATUS(OF_SHAPE_ERROR, of_tensor_create(&source, &tensor));
  source = describe(OF_FLOAT32, 3, huge, data, sizeof data);
  EXPECT_STATUS(OF_SHAPE_ERROR, of_tensor_create(&source, &tensor));
  source = describe(OF_FLOAT32, 2, sizes, NULL, sizeof data);
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source = describe(OF_FLOAT32, 2, sizes, data, sizeof data - 1);
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source = describe(OF_FLOAT32, 2, sizes, data, sizeof data);
  source.strides = far;
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source.strides = reversed;
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source.strides = overflowing;
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source.strides = NULL;
  source.offset = -1;
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source.offset = INT64_MAX;
  EXPECT_FAILS(of_tensor_create(&source, &tensor));
  source.offset = 0;
  source.device.type = 77;
  EXPECT_STATUS(OF_DEVICE_ERROR, of_tensor_create(&source, &tensor));
  EXPECT(tensor == NULL);
}

/* Foreign memory may represent true by any byte other than 0. */
static void test_any_nonzero_byte_is_true(void) {
  unsigned char data[6] = {2, 0, 255, 1, 0, 128};
  const int64_t size = 6;
  int64_t positions[4];
  of_tensor tensor = NULL;
  of_tensor_source source = describe(OF_BOOL, 1, &size, data, sizeof data);
  source.deleter = keep;
  EXPECT(of_tensor_create(&source, &tensor) == OF_OK);
  of_value argument = tensor_value(tensor), result;
  memset(&result, 0, sizeof result);
  EXPECT(of_call(of_op_find("nonzero"), &argument, 1, &result, 1) == OF_OK);
  EXPECT(of_tensor_read(result.as.tensor, positions, sizeof positions) == OF_OK);
  EXPECT(positions[0] == 0 && positions[1] == 2 && positions[2] == 3 && positions[3] == 5);
  of_value_release(&result);
  EXPECT(of_call(of_op_find("sum"), &argument, 1, &result, 1) == OF_OK);
  of_scalar sum;
  EXPECT(of_tensor_item(result.as.tensor, &sum) == OF_OK && sum.as.integer == 4);
  of_value_release(&result);
  of_tensor_release(tensor);
}

static void test_null_handles(void) {
  of_tensor tensor = make_tensor(), result = NULL;
  of_tensor_info info;
  memset(&info, 0, sizeof info);
  const void* data = NULL;
  void* writable = NULL;
  of_scalar item;
  bool equal = false;
  char* text = NULL;
  float read[6];

  EXPECT_FAILS(of_tensor_get_info(NULL, &info));
  EXPECT_FAILS(of_tensor_get_info(tensor, NULL));
  EXPECT_FAILS(of_tensor_get_info(tensor, &info)); /* struct_size is 0 */
  EXPECT_FAILS(of_tensor_data(NULL, &data));
  EXPECT_FAILS(of_tensor_data(tensor, NULL));
  EXPECT_FAILS(of_tensor_mutable_data(NULL, &writable));
  EXPECT_FAILS(of_tensor_read(NULL, read, sizeof read));
  EXPECT_FAILS(of_tensor_read(tensor, NULL, sizeof read));
  EXPECT_FAILS(of_tensor_read(tensor, read, sizeof read - 4));
  EXPECT_FAILS(of_tensor_read(tensor, read, UINT64_MAX));
  EXPECT_FAILS(of_tensor_item(NULL, &item));
  EXPECT_FAILS(of_tensor_item(tensor, NULL));
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_tensor_item(tensor, &item)); /* six elements */
  EXPECT_FAILS(of_tensor_equal(tensor, NULL, &equal));
  EXPECT_FAILS(of_tensor_equal(tensor, tensor, NULL));
  EXPECT_FAILS(of_tensor_format(NULL, NULL, &text));
  EXPECT_FAILS(of_tensor_format(tensor, NULL, NULL));
  EXPECT_FAILS(of_tensor_lazy_clone(NULL, &result));
  EXPECT_FAILS(of_tensor_index(tensor, NULL, 1, &result));
  EXPECT_FAILS(of_tensor_index(NULL, NULL, 0, &result));
  EXPECT_FAILS(of_tensor_from_dlpack(NULL, &result));
  of_tensor_release(NULL);
  of_free(NULL);
  of_value_release(NULL);
  of_tensor_release(tensor);
}

static void test_names(void) {
  of_dtype dtype;
  of_device device;
  int64_t option;

  EXPECT_FAILS(of_dtype_parse(NULL, &dtype));
  EXPECT_FAILS(of_dtype_parse("flot32", &dtype));
  EXPECT_FAILS(of_dtype_parse("float32", NULL));
  EXPECT(of_dtype_name((of_dtype)1000) != NULL);
  EXPECT(of_dtype_size((of_dtype)-5) == 0);
  EXPECT(of_status_name((of_status)1000) != NULL);
  EXPECT_STATUS(OF_DEVICE_ERROR, of_device_parse("toaster", &device));
  EXPECT_FAILS(of_device_parse("", &device));
  EXPECT_FAILS(of_device_parse(NULL, &device));
  EXPECT_FAILS(of_device_parse("cpu:999999999999999999999", &device));
  EXPECT_FAILS(of_device_parse("cpu:-1", &device));
  EXPECT_FAILS(of_set_option("nonsense", 1));
  EXPECT_FAILS(of_set_option(NULL, 1));
  EXPECT_FAILS(of_get_option("nonsense", &option));
  EXPECT_FAILS(of_set_default_dtype(OF_INT32));
  EXPECT_FAILS(of_set_default_dtype((of_dtype)400));
  EXPECT_FAILS(of_load_device("/nonexistent/plugin.so"));
  EXPECT_FAILS(of_load_device(NULL));
  EXPECT_FAILS(of_load_library("/nonexistent/library.so", NULL));
  EXPECT_FAILS(of_load_library(NULL, NULL));
  EXPECT(of_op_find(NULL) == NULL);
  EXPECT(of_op_find("") == NULL);
  EXPECT(of_op_find("no_such_operator") == NULL);
  EXPECT(of_op_at(SIZE_MAX) == NULL);
}

static void test_calls(void) {
  const of_op add = of_op_find("add"), sum = of_op_find("sum"), einsum = of_op_find("einsum"),
              stack = of_op_find("stack");
  of_tensor tensor = make_tensor();
  of_value results[2], args[20];
  memset(results, 0, sizeof results);
  memset(args, 0, sizeof args);
  args[0] = args[1] = tensor_value(tensor);

  EXPECT_FAILS(of_call(NULL, args, 2, results, 1));
  EXPECT_FAILS(of_call(add, NULL, 2, results, 1));
  EXPECT_FAILS(of_call(add, args, 2, NULL, 1));
  EXPECT_FAILS(of_call(add, args, 2, results, 0));
  EXPECT_FAILS(of_call(add, args, 2, results, 2));
  EXPECT_FAILS(of_call(add, args, 20, results, 1));
  EXPECT_FAILS(of_call(add, args, SIZE_MAX, results, 1));
  EXPECT_STATUS(OF_TYPE_MISMATCH, of_call(add, args, 1, results, 1)); /* `other` is missing */

  args[1].kind = 12345;
  EXPECT_FAILS(of_call(add, args, 2, results, 1));
  args[1].kind = -1;
  EXPECT_FAILS(of_call(add, args, 2, results, 1));
  args[1] = tensor_value(NULL);
  EXPECT_FAILS(of_call(add, args, 2, results, 1));
  args[1].kind = OF_VALUE_STRING; /* a NULL string */
  EXPECT_FAILS(of_call(add, args, 2, results, 1));

  memset(&args[1], 0, sizeof args[1]);
  args[1].kind = OF_VALUE_INT_LIST;
  args[1].count = -7;
  EXPECT_FAILS(of_call(sum, args, 2, results, 1));
  args[1].count = INT32_MAX; /* the list is NULL */
  EXPECT_FAILS(of_call(sum, args, 2, results, 1));
  args[1].kind = OF_VALUE_DTYPE;
  args[1].count = 0;
  EXPECT_FAILS(of_call(sum, args, 2, results, 1));
  args[1].kind = OF_VALUE_INT;
  args[1].as.integer = INT64_MIN;
  EXPECT_STATUS(OF_INDEX_OUT_OF_RANGE, of_call(sum, args, 2, results, 1));
  memset(&args[1], 0, sizeof args[1]);
  args[3].kind = OF_VALUE_DTYPE;
  args[3].as.dtype = (of_dtype)500;
  EXPECT_FAILS(of_call(sum, args, 4, results, 1));

  of_tensor items[2] = {tensor, NULL};
  memset(args, 0, sizeof args);
  args[0].kind = OF_VALUE_TENSOR_LIST;
  args[0].count = 2;
  args[0].as.tensors = items;
  EXPECT_FAILS(of_call(stack, args, 1, results, 1));
  args[0].count = -1;
  EXPECT_FAILS(of_call(stack, args, 1, results, 1));
  args[0].as.tensors = NULL;
  args[0].count = 2;
  EXPECT_FAILS(of_call(stack, args, 1, results, 1));
  args[1] = args[0];
  args[0].kind = OF_VALUE_STRING;
  args[0].as.string = NULL;
  args[0].count = 5;
  EXPECT_FAILS(of_call(einsum, args, 2, results, 1));
  args[0].as.string = "ij->\xff\xfe";
  args[0].count = 6;
  args[1].as.tensors = items;
  args[1].count = 1;
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_call(einsum, args, 2, results, 1));
  args[0].count = -3;
  EXPECT_FAILS(of_call(einsum, args, 2, results, 1));

  EXPECT_FAILS(of_op_get_info(NULL, NULL));
  EXPECT_FAILS(of_op_get_info(add, NULL));
  EXPECT_FAILS(of_infer(NULL, NULL, 0, NULL, 0));
  EXPECT(results[0].kind == OF_VALUE_ABSENT);
  of_tensor_release(tensor);
}

/* The inline functions of <oneflow/operators.h>. */
static void test_typed_functions(void) {
  of_tensor tensor = make_tensor(), result = NULL;
  const int64_t dim = 0;
  of_scalar item;
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_add(tensor, 1, NULL));
  EXPECT_STATUS(OF_TYPE_MISMATCH, of_matmul(NULL, tensor, &result));
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_sum(tensor, &dim, (size_t)UINT32_MAX + 2, false, NULL, &result));
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_cat(&tensor, SIZE_MAX, 0, &result));
  EXPECT_FAILS(of_gelu(tensor, NULL, &result));
  EXPECT(result == NULL);
  EXPECT(of_full(NULL, 0, 2.5L, NULL, NULL, &result) == OF_OK);
  EXPECT(of_tensor_item(result, &item) == OF_OK && item.as.real == 2.5);
  of_tensor_release(result);
  of_tensor_release(tensor);
}

static void test_results(void) {
  const of_op add = of_op_find("add");
  of_tensor tensor = make_tensor();
  const int64_t sizes[2] = {2, 2}, expanded[2] = {2, 3}, zero[2] = {0, 1};
  float data[6] = {0};
  int32_t integers[6] = {0};
  of_value args[2] = {tensor_value(tensor), tensor_value(tensor)}, results[1];
  of_tensor target = NULL;

  of_tensor_source source = describe(OF_FLOAT32, 2, sizes, data, 16);
  EXPECT(of_tensor_create(&source, &target) == OF_OK);
  results[0] = tensor_value(target);
  EXPECT_STATUS(OF_SHAPE_ERROR, of_call(add, args, 2, results, 1));
  of_tensor_release(target);

  source = describe(OF_INT32, 2, expanded, integers, sizeof integers);
  EXPECT(of_tensor_create(&source, &target) == OF_OK);
  results[0] = tensor_value(target);
  EXPECT_STATUS(OF_DTYPE_ERROR, of_call(add, args, 2, results, 1));
  of_tensor_release(target);

  source = describe(OF_FLOAT32, 2, expanded, data, sizeof data);
  source.strides = zero; /* all rows share their elements */
  source.deleter = keep;
  EXPECT(of_tensor_create(&source, &target) == OF_OK);
  results[0] = tensor_value(target);
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_call(add, args, 2, results, 1));
  of_tensor_release(target);

  results[0] = tensor_value(NULL);
  EXPECT_FAILS(of_call(add, args, 2, results, 1));
  results[0].kind = 4711;
  EXPECT_FAILS(of_call(add, args, 2, results, 1));
  of_tensor_release(tensor);
}

static void test_absurd_sizes(void) {
  const of_op zeros = of_op_find("zeros"), arange = of_op_find("arange"), eye = of_op_find("eye");
  const int64_t overflowing[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, large[2] = {INT64_MAX / 8, 1};
  int64_t many[40];
  of_value args[3], results[1];
  memset(args, 0, sizeof args);
  memset(results, 0, sizeof results);
  for (int i = 0; i < 40; ++i) many[i] = 1;

  args[0].kind = OF_VALUE_INT_LIST;
  args[0].as.integers = overflowing;
  args[0].count = 3;
  EXPECT_STATUS(OF_SHAPE_ERROR, of_call(zeros, args, 1, results, 1));
  args[0].as.integers = large;
  args[0].count = 2;
  EXPECT_FAILS(of_call(zeros, args, 1, results, 1));
  args[0].as.integers = many;
  args[0].count = 40;
  EXPECT_STATUS(OF_SHAPE_ERROR, of_call(zeros, args, 1, results, 1));

  args[0].kind = OF_VALUE_FLOAT;
  args[0].count = 0;
  args[0].as.real = 1e300;
  EXPECT_FAILS(of_call(arange, args, 1, results, 1));
  args[0].as.real = 0.0 / 0.0;
  EXPECT_FAILS(of_call(arange, args, 1, results, 1));
  args[0].kind = OF_VALUE_INT;
  args[0].as.integer = INT64_MAX;
  EXPECT_FAILS(of_call(arange, args, 1, results, 1));
  EXPECT_FAILS(of_call(eye, args, 1, results, 1));
  args[0].as.integer = -1;
  EXPECT_FAILS(of_call(eye, args, 1, results, 1));
}

static void test_indexing(void) {
  of_tensor tensor = make_tensor(), result = NULL;
  of_index parts[3];
  of_value number;
  memset(&number, 0, sizeof number);
  memset(parts, 0, sizeof parts);

  parts[0].kind = OF_INDEX_INT;
  parts[0].start = 2;
  EXPECT_STATUS(OF_INDEX_OUT_OF_RANGE, of_tensor_index(tensor, parts, 1, &result));
  parts[0].start = INT64_MIN;
  EXPECT_STATUS(OF_INDEX_OUT_OF_RANGE, of_tensor_index(tensor, parts, 1, &result));
  parts[0].kind = (of_index_kind)55;
  EXPECT_FAILS(of_tensor_index(tensor, parts, 1, &result));
  memset(parts, 0, sizeof parts);
  EXPECT_FAILS(of_tensor_index(tensor, parts, 3, &result)); /* more than there are dimensions */
  parts[0].kind = OF_INDEX_SLICE;
  parts[0].step = 0;
  EXPECT_FAILS(of_tensor_index(tensor, parts, 1, &result));
  parts[0].kind = parts[1].kind = OF_INDEX_ELLIPSIS;
  EXPECT_FAILS(of_tensor_index(tensor, parts, 2, &result));
  parts[0].kind = OF_INDEX_TENSOR; /* NULL */
  EXPECT_FAILS(of_tensor_index(tensor, parts, 1, &result));
  parts[0].tensor = tensor; /* of floats */
  EXPECT_FAILS(of_tensor_index(tensor, parts, 1, &result));
  memset(parts, 0, sizeof parts);
  EXPECT_FAILS(of_tensor_set_index(tensor, parts, 1, NULL));
  EXPECT_FAILS(of_tensor_set_index(tensor, parts, 1, &number)); /* ABSENT */
  EXPECT_FAILS(of_tensor_set_index(NULL, parts, 1, &number));

  parts[0].kind = OF_INDEX_SLICE; /* extreme bounds are clamped */
  parts[0].has_start = parts[0].has_stop = true;
  parts[0].start = INT64_MIN;
  parts[0].stop = INT64_MAX;
  parts[0].step = INT64_MAX;
  EXPECT(of_tensor_index(tensor, parts, 1, &result) == OF_OK);
  EXPECT(of_tensor_count(result) == 3);
  of_tensor_release(result);
  of_tensor_release(tensor);
}

static void test_expressions(void) {
  const int64_t sizes[] = {2, 3};
  const of_shape shapes[] = {{2, sizes}, {2, sizes}};
  const int64_t pairs[] = {1, 0, 0, 1};
  of_expression_options options = {sizeof(options), NULL, 0, pairs, 2};
  of_expression expression = NULL;
  /* More operands or path positions than the equation can have are rejected before they are read. */
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_expression_create("ij,ij", shapes, SIZE_MAX, NULL, &expression));
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_expression_create("ij,ij", shapes, 3, NULL, &expression));
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_expression_create("ij", shapes, 2, NULL, &expression));
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_expression_create("ij,ij", shapes, 1, NULL, &expression));
  for (size_t count = 0; count < 8; ++count) {
    options.path_count = count < 5 ? count : SIZE_MAX - 8 + count;
    if (count != 2) EXPECT_STATUS(OF_INVALID_ARGUMENT, of_expression_create("ij,ij", shapes, 2, &options, &expression));
  }
  EXPECT(expression == NULL);
  options.path_count = 2;
  EXPECT(of_expression_create("ij,ij", shapes, 2, &options, &expression) == OF_OK);
  EXPECT_STATUS(OF_INVALID_ARGUMENT, of_expression_call(expression, NULL, SIZE_MAX, NULL));
  of_expression_release(expression);
  EXPECT_FAILS(of_expression_create(NULL, shapes, 2, NULL, &expression));
  EXPECT_FAILS(of_expression_create("ij", NULL, 1, NULL, &expression));
  EXPECT_FAILS(of_expression_create("ij", shapes, 1, NULL, NULL));
}

static void test_memory_limit(void) {
  const of_op zeros = of_op_find("zeros");
  const int64_t size = 1 << 20;
  of_value args[1], results[1];
  memset(args, 0, sizeof args);
  memset(results, 0, sizeof results);
  args[0].kind = OF_VALUE_INT_LIST;
  args[0].count = 1;
  args[0].as.integers = &size;
  EXPECT(of_set_memory_limit(of_default_device(), 1 << 16) == OF_OK);
  EXPECT_STATUS(OF_OUT_OF_MEMORY, of_call(zeros, args, 1, results, 1));
  EXPECT(of_set_memory_limit(of_default_device(), 0) == OF_OK);
  EXPECT(of_call(zeros, args, 1, results, 1) == OF_OK);
  of_value_release(&results[0]);
  EXPECT(results[0].kind == OF_VALUE_ABSENT);
}

/* Checks that the library still works after all errors, and that no tensor or memory was leaked. */
static void test_library_still_works_without_leaks(void) {
  of_tensor tensor = make_tensor();
  of_value args[2] = {tensor_value(tensor), tensor_value(tensor)}, results[1];
  float read[6];
  memset(results, 0, sizeof results);
  EXPECT(of_call(of_op_find("add"), args, 2, results, 1) == OF_OK);
  EXPECT(of_tensor_read(results[0].as.tensor, read, sizeof read) == OF_OK);
  EXPECT(read[5] == 12.0f);
  of_value_release(&results[0]);
  of_tensor_release(tensor);

  of_memory_statistics statistics;
  memset(&statistics, 0, sizeof statistics);
  statistics.struct_size = sizeof statistics;
  EXPECT(of_get_memory_statistics(of_default_device(), &statistics) == OF_OK);
  EXPECT(statistics.tensors == 0);
  EXPECT(statistics.in_use == 0);
}

int main(void) {
  test_tensor_sources();
  test_any_nonzero_byte_is_true();
  test_null_handles();
  test_names();
  test_calls();
  test_typed_functions();
  test_results();
  test_absurd_sizes();
  test_indexing();
  test_expressions();
  test_memory_limit();
  test_library_still_works_without_leaks();
  printf("%d checks\n", checks);
  return 0;
}
