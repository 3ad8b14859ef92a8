// Tests the boundary of the C API: null pointers, structs of other versions, DLPack.
#include <gtest/gtest.h>
#include <oneflow/oneflow.h>

#include <cstring>

#include "capi/dlpack.h"
#include "dispatch/values.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

of_tensor handle(const TensorRef& tensor) { return to_handle(tensor.get()); }

TEST(CApiTest, NullPointersAreErrors) {
  of_tensor tensor = nullptr;
  of_tensor_info info{};
  const void* data;
  void* mutable_data;
  of_scalar item;
  bool flag;
  char* text;
  of_device device;
  of_dtype dtype;
  int64_t option;
  DLManagedTensor* managed;
  const of_status statuses[] = {
      of_tensor_create(nullptr, &tensor),
      of_tensor_get_info(nullptr, &info),
      of_tensor_data(nullptr, &data),
      of_tensor_mutable_data(nullptr, &mutable_data),
      of_tensor_read(nullptr, nullptr, 0),
      of_tensor_item(nullptr, &item),
      of_tensor_lazy_clone(nullptr, &tensor),
      of_tensor_to_device(nullptr, of_device{0, 0}, &tensor),
      of_tensor_equal(nullptr, nullptr, &flag),
      of_tensor_format(nullptr, nullptr, &text),
      of_tensor_index(nullptr, nullptr, 0, &tensor),
      of_tensor_set_index(nullptr, nullptr, 0, nullptr),
      of_tensor_to_dlpack(nullptr, &managed),
      of_tensor_from_dlpack(nullptr, &tensor),
      of_tensor_to_dlpack_versioned(nullptr, nullptr),
      of_tensor_from_dlpack_versioned(nullptr, &tensor),
      of_device_parse(nullptr, &device),
      of_device_parse("cpu", nullptr),
      of_dtype_parse(nullptr, &dtype),
      of_dtype_parse("int8", nullptr),
      of_load_device(nullptr),
      of_add_device_path(nullptr),
      of_get_option(nullptr, &option),
      of_set_option(nullptr, 1),
      of_op_get_info(nullptr, nullptr),
      of_call(nullptr, nullptr, 0, nullptr, 0),
      of_infer(nullptr, nullptr, 0, nullptr, 0),
      of_call_box(nullptr, nullptr, 0, nullptr, nullptr, 0),
      of_tensor_defer(0, nullptr, OF_FLOAT32, of_device{0, 0}, nullptr, nullptr, nullptr, &tensor),
      of_generator_create(1, nullptr),
      of_generator_manual_seed(nullptr, 1),
      of_generator_seed(nullptr, nullptr),
      of_generator_initial_seed(of_default_generator(), nullptr),
      of_generator_get_state(of_default_generator(), nullptr, nullptr),
      of_generator_set_state(nullptr, 1, 1),
      of_layer_install(OF_LAYER_PROFILE, OF_LAYER_ALL_CALLS, nullptr, nullptr),
      of_layer_install(
          OF_LAYER_LIMIT, OF_LAYER_ALL_CALLS, [](void*, of_layer_call*) { return OF_OK; }, nullptr),
      of_layer_remove(-1),
      of_layer_get_call(nullptr, nullptr),
      of_layer_next(nullptr, OF_BODY_HIDDEN),
      of_layer_forward(nullptr, OF_BODY_HIDDEN, nullptr, nullptr, 0),
      of_thread_get_state(nullptr),
      of_thread_set_state(nullptr),
      of_tensor_set_extension(nullptr, OF_LAYER_PROFILE, nullptr, nullptr),
      of_fallback_at(0, nullptr, nullptr),
      of_get_memory_statistics(of_device{0, 0}, nullptr),
      of_device_get_properties(of_device{0, 0}, nullptr),
      of_rejected_plugin_at(0, nullptr, nullptr),
      of_stream_create(of_device{0, 0}, nullptr),
      of_stream_destroy(of_stream{}),
      of_stream_query(of_stream{}, nullptr),
      of_stream_current(of_device{0, 0}, nullptr),
      of_stream_get_device(of_stream{}, nullptr),
      of_event_create(of_device{0, 0}, false, nullptr),
      of_event_destroy(of_event{}),
      of_event_query(of_event{}, nullptr),
      of_event_elapsed(of_event{}, of_event{}, nullptr),
  };
  for (const of_status status : statuses) EXPECT_EQ(status, OF_INVALID_ARGUMENT) << &status - statuses;
  of_tensor_data(nullptr, &data);
  EXPECT_STREQ(of_last_error(), "of_tensor_data: tensor must not be NULL");
  of_op_find(nullptr);
  of_tensor_release(nullptr);
  of_generator_release(nullptr);
  of_value_release(nullptr);
  of_free(nullptr);
  of_fail(OF_SHAPE_ERROR, nullptr);
  EXPECT_EQ(of_tensor_retain(nullptr), nullptr);
  EXPECT_EQ(of_generator_retain(nullptr), nullptr);
  EXPECT_EQ(of_tensor_memory(nullptr), 0u);
  EXPECT_EQ(of_tensor_count(nullptr), 0);
}

// The values of enumerators that stand for "none" do not move when dtypes are added.
static_assert(OF_DTYPE_NONE == -1 && sizeof(of_dtype) == 4);

TEST(CApiTest, LongErrorTextsAreCutBetweenCharacters) {
  EXPECT_EQ(of_fail(OF_SHAPE_ERROR, "text"), OF_SHAPE_ERROR);
  EXPECT_STREQ(of_last_error(), "text");
  std::string longer(4094, 'x');
  longer += "\u00e9\u00e9";  // the first of the two-byte characters does not fit in the buffer
  of_fail(OF_SHAPE_ERROR, longer.c_str());
  EXPECT_EQ(std::string(of_last_error()), std::string(4094, 'x'));
  of_fail(OF_SHAPE_ERROR, of_last_error());  // source and destination are the same
  EXPECT_EQ(std::strlen(of_last_error()), 4094u);
  EXPECT_STREQ(of_status_name(OF_COMMUNICATION_ERROR), "CommunicationError");
  EXPECT_STREQ(of_status_name(OF_INTERRUPTED), "Interrupted");
  EXPECT_STREQ(of_status_name(static_cast<of_status>(99)), "UnknownError");
}

TEST(CApiTest, StructsMayHaveOtherSizes) {
  const TensorRef tensor = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  // The struct of an older caller is shorter: nothing after its end is written.
  of_tensor_info info;
  std::memset(&info, 0x77, sizeof(info));
  info.struct_size = offsetof(of_tensor_info, sizes);
  ASSERT_EQ(of_tensor_get_info(handle(tensor), &info), OF_OK);
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(info.struct_size, offsetof(of_tensor_info, sizes));
  EXPECT_EQ(info.count, 0x7777777777777777);
  // A newer caller's struct is longer.
  struct Newer {
    of_tensor_info info;
    char more[16];
  } newer{};
  newer.info.struct_size = sizeof(newer);
  ASSERT_EQ(of_tensor_get_info(handle(tensor), &newer.info), OF_OK);
  EXPECT_EQ(newer.info.count, 6);
  info.struct_size = 0;
  EXPECT_EQ(of_tensor_get_info(handle(tensor), &info), OF_INVALID_ARGUMENT);
}

TEST(CApiTest, ReadingNeedsTheExactSize) {
  const TensorRef tensor = make_tensor({2}, {1, 2});
  float elements[2];
  EXPECT_EQ(of_tensor_read(handle(tensor), elements, 4), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "of_tensor_read: bytes must be 8, the size of all elements, got 4");
  EXPECT_EQ(of_tensor_read(handle(tensor), elements, 8), OF_OK);
  EXPECT_EQ(elements[1], 2);
  of_scalar item;
  EXPECT_EQ(of_tensor_item(handle(tensor), &item), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "item: input must have exactly one element, got shape [2]");
}

TEST(CApiTest, MemoryThatTheHostCannotAccessHasNoAddress) {
  const TensorRef tensor = make_tensor({2}, {1, 2}, OF_FLOAT32, far_device());
  const void* data;
  EXPECT_EQ(of_tensor_data(handle(tensor), &data), OF_DEVICE_ERROR);
  EXPECT_STREQ(of_last_error(), "of_tensor_data: the host cannot reach memory on far:0; copy the tensor first");
  DLManagedTensor* managed;
  EXPECT_EQ(of_tensor_to_dlpack(handle(tensor), &managed), OF_UNSUPPORTED);
}

TEST(CApiTest, TensorsAreCopiedBetweenDevices) {
  const TensorRef matrix = make_tensor({2, 2}, {1, 2, 3, 4});
  const TensorRef transposed = Tensor::view(*matrix, Shape{2, 2}, Shape{1, 2}, 0);
  of_tensor there = nullptr, back = nullptr, nowhere = nullptr;
  ASSERT_EQ(of_tensor_to_device(handle(transposed), far_device(1), &there), OF_OK);
  EXPECT_TRUE(to_tensor(there)->device() == far_device(1));
  ASSERT_EQ(of_tensor_to_device(there, of_device{0, 0}, &back), OF_OK);
  EXPECT_EQ(values(*to_tensor(back)), (std::vector<double>{1, 3, 2, 4}));
  EXPECT_EQ(of_tensor_to_device(back, of_device{50, 0}, &nowhere), OF_DEVICE_ERROR);
  const TensorRef inferred = Tensor::without_memory(Shape{2}, OF_FLOAT32, {0, 0});
  EXPECT_EQ(of_tensor_to_device(handle(inferred), far_device(), &nowhere), OF_UNSUPPORTED);
  EXPECT_EQ(nowhere, nullptr);
  of_tensor_release(there);
  of_tensor_release(back);
}

TEST(CApiTest, LazyClonesDoNotShareExposedMemory) {
  const TensorRef tensor = make_tensor({2}, {1, 2});
  of_tensor clone = nullptr;
  ASSERT_EQ(of_tensor_lazy_clone(handle(tensor), &clone), OF_OK);
  void* data;
  ASSERT_EQ(of_tensor_mutable_data(clone, &data), OF_OK);
  EXPECT_NE(data, tensor->data());
  of_tensor second = nullptr;
  ASSERT_EQ(of_tensor_lazy_clone(clone, &second), OF_OK);
  static_cast<float*>(data)[0] = 9;
  EXPECT_EQ(values(*to_tensor(second)), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(*tensor), (std::vector<double>{1, 2}));
  of_tensor_release(clone);
  of_tensor_release(second);
}

// Tensors that come from inference have no memory.
TEST(CApiTest, TensorsWithoutMemoryAreRejected) {
  const TensorRef shape = Tensor::without_memory(Shape{2}, OF_FLOAT32, {0, 0});
  const TensorRef tensor = make_tensor({2}, {1, 2});
  of_value arguments[] = {to_value(tensor), to_value(shape)}, result{};
  EXPECT_EQ(of_call(of_op_find("add"), arguments, 2, &result, 1), OF_UNSUPPORTED);
  result = to_value(shape);
  EXPECT_EQ(of_call(of_op_find("neg"), arguments, 1, &result, 1), OF_UNSUPPORTED);
  arguments[0] = to_value(shape);
  EXPECT_EQ(of_call(of_op_find("copy"), arguments, 2, &result, 1), OF_UNSUPPORTED);
  DLManagedTensor* managed;
  EXPECT_EQ(of_tensor_to_dlpack(handle(shape), &managed), OF_UNSUPPORTED);
  char* text;
  EXPECT_EQ(of_tensor_format(handle(shape), nullptr, &text), OF_UNSUPPORTED);
}

TEST(CApiTest, OptionsAndNames) {
  int64_t value = -1;
  EXPECT_EQ(of_set_option("deterministic", 1), OF_OK);
  EXPECT_EQ(of_get_option("deterministic", &value), OF_OK);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(of_set_option("deterministic", 0), OF_OK);
  EXPECT_EQ(of_set_option("deterministic", 2), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_set_option("speed", 2), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "there is no option 'speed'");
  EXPECT_STREQ(of_dtype_name(static_cast<of_dtype>(77)), "unknown");
  EXPECT_EQ(of_promote_types(OF_UINT16, OF_INT8), OF_DTYPE_NONE);
  EXPECT_EQ(of_set_default_dtype(OF_INT32), OF_DTYPE_ERROR);
  char name[64];
  EXPECT_STREQ(of_device_name(of_device{0, 0}, name), device_name({0, 0}).c_str());
}

TEST(CApiTest, RandomStateCanBeSet) {
  uint64_t seed = 0, offset = 0;
  const of_generator generator = of_default_generator();
  of_generator_set_state(generator, 5, 100);
  of_generator_get_state(generator, &seed, &offset);
  EXPECT_EQ(seed, 5u);
  EXPECT_EQ(offset, 100u);
  of_generator_manual_seed(generator, 9);
  of_generator_get_state(generator, &seed, &offset);
  EXPECT_EQ(of_generator_initial_seed(generator, &seed), OF_OK);
  EXPECT_EQ(seed, 9u);
  EXPECT_EQ(offset, 0u);
}

TEST(DLPackTest, ExportAndImportDoNotCopy) {
  TensorRef tensor = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const void* memory = tensor->data();
  DLManagedTensor* managed = nullptr;
  ASSERT_EQ(of_tensor_to_dlpack(handle(tensor), &managed), OF_OK);
  tensor = nullptr;
  EXPECT_EQ(managed->dl_tensor.data, memory);
  EXPECT_EQ(managed->dl_tensor.shape[1], 3);
  of_tensor back = nullptr;
  ASSERT_EQ(of_tensor_from_dlpack(managed, &back), OF_OK);
  EXPECT_EQ(to_tensor(back)->data(), memory);
  EXPECT_EQ(values(*to_tensor(back)), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  of_tensor_release(back);
}

TEST(DLPackTest, EveryDTypeSurvivesARoundTrip) {
  for (int i = 0; i < OF_DTYPE_COUNT; ++i) {
    const auto dtype = static_cast<of_dtype>(i);
    const TensorRef tensor = Tensor::allocate({{2}}, dtype, kHost);
    DLManagedTensor* managed = nullptr;
    ASSERT_EQ(of_tensor_to_dlpack(handle(tensor), &managed), OF_OK);
    of_tensor back = nullptr;
    ASSERT_EQ(of_tensor_from_dlpack(managed, &back), OF_OK);
    EXPECT_EQ(of_tensor_dtype(back), dtype);
    of_tensor_release(back);
  }
}

TEST(DLPackTest, TensorsWithNegativeStridesAreCopied) {
  const TensorRef tensor = make_tensor({3}, {1, 2, 3});
  const TensorRef reversed = Tensor::view(*tensor, Shape{3}, Shape{-1}, 2);
  DLManagedTensor* managed = nullptr;
  ASSERT_EQ(of_tensor_to_dlpack(handle(reversed), &managed), OF_OK);
  EXPECT_EQ(managed->dl_tensor.strides[0], 1);
  EXPECT_EQ(static_cast<float*>(managed->dl_tensor.data)[0], 3);
  managed->deleter(managed);
}

// A DLPack struct as another library would export it.
struct Foreign {
  DLManagedTensor managed{};
  alignas(8) char memory[64] = {};
  int64_t shape[2] = {2, 2};
  int64_t strides[2] = {2, -1};
  int deleted = 0;

  Foreign() {
    managed.dl_tensor.data = memory;
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = 2;
    managed.dl_tensor.dtype = {kDLFloat, 32, 1};
    managed.dl_tensor.shape = shape;
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
    for (int i = 0; i < 4; ++i) reinterpret_cast<float*>(memory)[i] = static_cast<float>(i);
  }
};

TEST(DLPackTest, OffsetsAndStridesAreRead) {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = foreign.strides;
  foreign.managed.dl_tensor.byte_offset = 4;
  of_tensor tensor = nullptr;
  ASSERT_EQ(of_tensor_from_dlpack(&foreign.managed, &tensor), OF_OK);
  EXPECT_EQ(values(*to_tensor(tensor)), (std::vector<double>{1, 0, 3, 2}));
  EXPECT_EQ(foreign.deleted, 0);
  of_tensor_release(tensor);
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPackTest, UnalignedMemoryIsCopied) {
  Foreign foreign;
  std::memmove(foreign.memory + 1, foreign.memory, 16);
  foreign.managed.dl_tensor.byte_offset = 1;
  of_tensor tensor = nullptr;
  ASSERT_EQ(of_tensor_from_dlpack(&foreign.managed, &tensor), OF_OK);
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(values(*to_tensor(tensor)), (std::vector<double>{0, 1, 2, 3}));
  of_tensor_release(tensor);
}

TEST(DLPackTest, VersionedStructsHaveAVersionAndFlags) {
  const TensorRef tensor = make_tensor({3}, {1, 2, 3});
  const TensorRef reversed = Tensor::view(*tensor, Shape{3}, Shape{-1}, 2);
  for (const TensorRef& each : {tensor, reversed}) {
    DLManagedTensorVersioned* managed = nullptr;
    ASSERT_EQ(of_tensor_to_dlpack_versioned(handle(each), &managed), OF_OK);
    EXPECT_EQ(managed->version.major, 1u);
    EXPECT_EQ(managed->flags, each.get() == tensor.get() ? 0 : uint64_t{kDLIsCopied});
    of_tensor back = nullptr;
    ASSERT_EQ(of_tensor_from_dlpack_versioned(managed, &back), OF_OK);
    EXPECT_EQ(values(*to_tensor(back)), values(*each));
    of_tensor_release(back);
  }
}

TEST(DLPackTest, ReadOnlyMemoryIsCopiedByTheFirstWrite) {
  static int deleted = 0;
  Foreign foreign;
  DLManagedTensorVersioned managed{};
  managed.version = {1, 7};
  managed.flags = kDLReadOnly;
  managed.dl_tensor = foreign.managed.dl_tensor;
  managed.deleter = [](DLManagedTensorVersioned*) { ++deleted; };
  of_tensor tensor = nullptr;
  ASSERT_EQ(of_tensor_from_dlpack_versioned(&managed, &tensor), OF_OK);
  void* written = nullptr;
  ASSERT_EQ(of_tensor_mutable_data(tensor, &written), OF_OK);
  EXPECT_NE(written, foreign.memory);
  of_tensor_release(tensor);
  EXPECT_EQ(deleted, 1);
  managed.version.major = 2;
  EXPECT_EQ(of_tensor_from_dlpack_versioned(&managed, &tensor), OF_UNSUPPORTED);
  EXPECT_EQ(deleted, 2);
}

TEST(DLPackTest, FailuresCallTheDeleterOnce) {
  const auto failure = [](auto change, of_status expected) {
    Foreign foreign;
    change(foreign);
    of_tensor tensor = nullptr;
    EXPECT_EQ(of_tensor_from_dlpack(&foreign.managed, &tensor), expected);
    EXPECT_EQ(foreign.deleted, 1);
    EXPECT_EQ(tensor, nullptr);
  };
  failure([](Foreign& f) { f.managed.dl_tensor.device.device_type = 2; }, OF_UNSUPPORTED);
  failure([](Foreign& f) { f.managed.dl_tensor.dtype.lanes = 4; }, OF_DTYPE_ERROR);
  failure([](Foreign& f) { f.managed.dl_tensor.dtype.bits = 128; }, OF_DTYPE_ERROR);
  failure([](Foreign& f) { f.managed.dl_tensor.ndim = 40; }, OF_SHAPE_ERROR);
  failure([](Foreign& f) { f.managed.dl_tensor.shape = nullptr; }, OF_INVALID_ARGUMENT);
  failure([](Foreign& f) { f.shape[0] = -1; }, OF_SHAPE_ERROR);
  failure([](Foreign& f) { f.managed.dl_tensor.data = nullptr; }, OF_INVALID_ARGUMENT);
  failure(
      [](Foreign& f) {
        f.managed.dl_tensor.data = nullptr;
        f.managed.dl_tensor.byte_offset = 8;
      },
      OF_INVALID_ARGUMENT);
  failure(
      [](Foreign& f) {
        f.managed.dl_tensor.strides = f.strides;
        f.strides[0] = INT64_MAX / 4;
        f.strides[1] = -INT64_MAX / 2;
      },
      OF_SHAPE_ERROR);
}

}  // namespace
}  // namespace oneflow
