#include "tensor/storage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/error.h"
#include "dispatch/dispatch.h"
#include "tensor/create.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

using Values = std::vector<double>;

constinit const OperatorName kLazyClone("lazy_clone");

// Returns what of_tensor_lazy_clone() does.
TensorRef cloned(const Tensor& tensor) { return call_operator(kLazyClone, tensor); }

void write_first(const Tensor& tensor, float value) { *static_cast<float*>(tensor.mutable_data()) = value; }

TEST(StorageTest, ViewsShareWritesAndTheVersion) {
  const TensorRef tensor = make_tensor({2, 2}, {1, 2, 3, 4});
  const TensorRef view = Tensor::view(*tensor, Shape{2}, Shape{2}, 1);
  const uint64_t before = tensor->storage()->version();
  write_first(*view, 20);
  EXPECT_EQ(values(*tensor), (Values{1, 20, 3, 4}));
  EXPECT_EQ(tensor->storage()->version(), before + 1);
  EXPECT_EQ(view->storage()->version(), before + 1);
}

TEST(StorageTest, TheBaseOfAViewIsNotAView) {
  const TensorRef tensor = make_tensor({4}, {1, 2, 3, 4});
  const TensorRef view = Tensor::view(*tensor, Shape{3}, Shape{1}, 1);
  const TensorRef second = Tensor::view(*view, Shape{2}, Shape{1}, 2);
  EXPECT_FALSE(tensor->is_view());
  EXPECT_EQ(second->base().get(), tensor.get());
}

TEST(StorageTest, LazyClonesShareUntilEitherIsWritten) {
  const TensorRef original = make_tensor({2}, {1, 2});
  const TensorRef clone = cloned(*original);
  EXPECT_EQ(clone->data(), original->data());
  EXPECT_NE(clone->storage().get(), original->storage().get());
  const uint64_t version = clone->storage()->version();
  write_first(*original, 10);
  EXPECT_EQ(values(*original), (Values{10, 2}));
  EXPECT_EQ(values(*clone), (Values{1, 2}));
  EXPECT_EQ(clone->storage()->version(), version);

  const TensorRef other = cloned(*original);
  write_first(*other, 99);
  EXPECT_EQ(values(*original), (Values{10, 2}));
}

TEST(StorageTest, ViewsKeepSharingAfterACopyOnWrite) {
  const TensorRef original = make_tensor({2}, {1, 2});
  const TensorRef view = Tensor::view(*original, Shape{1}, Shape{1}, 1);
  const TensorRef clone = cloned(*original);
  write_first(*view, 20);
  EXPECT_EQ(values(*original), (Values{1, 20}));
  EXPECT_EQ(values(*clone), (Values{1, 2}));
}

TEST(StorageTest, TheLastOwnerWritesInPlace) {
  TensorRef original = make_tensor({2}, {1, 2});
  const TensorRef clone = cloned(*original);
  original = nullptr;
  const void* memory = clone->data();
  write_first(*clone, 5);
  EXPECT_EQ(clone->data(), memory);
}

TEST(StorageTest, ExposedMemoryIsClonedAtOnce) {
  const TensorRef original = make_tensor({2}, {1, 2});
  original->storage()->buffer().expose();
  const TensorRef clone = cloned(*original);
  EXPECT_NE(clone->data(), original->data());
  EXPECT_EQ(values(*clone), (Values{1, 2}));
}

TEST(StorageTest, ACloneOfASmallViewKeepsNoLargeMemory) {
  const TensorRef original = make_tensor({1000}, Values(1000, 7));
  const TensorRef clone = cloned(*Tensor::view(*original, Shape{1}, Shape{1}, 500));
  EXPECT_EQ(values(*clone), Values{7});
  EXPECT_LT(clone->storage()->bytes(), 100u);
  const TensorRef all = cloned(*Tensor::view(*original, Shape{600}, Shape{1}, 0));
  EXPECT_EQ(all->data(), original->data());
}

// The address that of_tensor_data() gives stays valid when a write moves the tensor to other memory.
TEST(StorageTest, AnAddressOutlivesACopyOnWrite) {
  TensorRef original = make_tensor({64}, Values(64, 1));
  const void* data = nullptr;
  ASSERT_EQ(of_tensor_data(to_handle(original.get()), &data), OF_OK);
  TensorRef clone = cloned(*original);
  write_first(*original, 2);
  clone = nullptr;
  EXPECT_NE(original->data(), data);
  EXPECT_EQ(*static_cast<const float*>(data), 1) << "AddressSanitizer reports it otherwise";
}

// For ThreadSanitizer: whichever comes first, code that gets the address and writes does not change the clone.
TEST(StorageTest, ExposingAndCloningMayMeet) {
  for (int round = 0; round < 300; ++round) {
    const TensorRef original = make_tensor({64}, Values(64, 1));
    TensorRef clone;
    std::thread thread([&] { clone = cloned(*original); });
    thread.join();
    void* data = nullptr;
    ASSERT_EQ(of_tensor_mutable_data(to_handle(original.get()), &data), OF_OK);
    *static_cast<float*>(data) = 2;
    EXPECT_EQ(values(*clone)[0], 1);
    EXPECT_NE(cloned(*original)->data(), data);
  }
}

TEST(StorageTest, ClonesMayBeWrittenOnDifferentThreads) {
  for (int round = 0; round < 200; ++round) {
    const TensorRef a = make_tensor({64}, Values(64, 1));
    const TensorRef b = cloned(*a);
    std::thread thread([&] { write_first(*b, 2); });
    write_first(*a, 3);
    thread.join();
    EXPECT_EQ(values(*a)[0], 3);
    EXPECT_EQ(values(*b)[0], 2);
  }
}

// Foreign memory for a tensor, which counts the calls of its deleter.
struct Foreign {
  float data[6] = {1, 2, 3, 4, 5, 6};
  int deleted = 0;
  int64_t sizes[2] = {2, 3};

  of_tensor_source source() {
    of_tensor_source s{};
    s.struct_size = sizeof(s);
    s.dtype = OF_FLOAT32;
    s.rank = 2;
    s.sizes = sizes;
    s.data = data;
    s.bytes = sizeof(data);
    s.deleter = [](void* context) { ++static_cast<Foreign*>(context)->deleted; };
    s.deleter_context = this;
    return s;
  }
};

TEST(ForeignMemoryTest, IsReleasedOnceAfterTheLastView) {
  Foreign foreign;
  TensorRef tensor = create_tensor(foreign.source());
  EXPECT_EQ(tensor->data(), foreign.data);
  TensorRef view = Tensor::view(*tensor, Shape{3}, Shape{1}, 3);
  tensor = nullptr;
  EXPECT_EQ(foreign.deleted, 0);
  write_first(*view, 40);
  EXPECT_EQ(foreign.data[3], 40);
  view = nullptr;
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(ForeignMemoryTest, ALazyCloneCopiesAtOnce) {
  Foreign foreign;
  const TensorRef tensor = create_tensor(foreign.source());
  const TensorRef clone = cloned(*tensor);
  foreign.data[0] = 100;  // the owner may write at any time
  EXPECT_EQ(values(*clone)[0], 1);
  EXPECT_EQ(values(*tensor)[0], 100);
}

TEST(ForeignMemoryTest, ReadOnlyMemoryIsCopiedByTheFirstWrite) {
  Foreign foreign;
  of_tensor_source source = foreign.source();
  source.read_only = true;
  const TensorRef tensor = create_tensor(source);
  const TensorRef view = Tensor::view(*tensor, Shape{3}, Shape{1}, 3);
  EXPECT_EQ(tensor->data(), foreign.data);
  write_first(*view, 40);
  EXPECT_EQ(foreign.data[3], 4);
  EXPECT_EQ(foreign.deleted, 1);  // no tensor uses it any more
  EXPECT_EQ(values(*tensor), (Values{1, 2, 3, 40, 5, 6}));
}

TEST(ForeignMemoryTest, WithoutADeleterItIsCopied) {
  Foreign foreign;
  const int64_t strides[] = {-3, 1};
  of_tensor_source source = foreign.source();
  source.deleter = nullptr;
  source.strides = strides;
  source.offset = 3;
  const TensorRef tensor = create_tensor(source);
  foreign.data[0] = 100;
  EXPECT_EQ(values(*tensor), (Values{4, 5, 6, 1, 2, 3}));
  EXPECT_TRUE(tensor->is_contiguous());
}

TEST(ForeignMemoryTest, LayoutsBeyondTheMemoryAreErrors) {
  const auto failure = [](auto change) {
    Foreign foreign;
    of_tensor_source source = foreign.source();
    change(source);
    try {
      create_tensor(source);
    } catch (const Error& error) {
      EXPECT_EQ(foreign.deleted, 0);  // after a failure, the caller still owns the memory
      return error.text();
    }
    return std::string("no failure");
  };
  static const int64_t backwards[] = {3, -1}, far[] = {INT64_MAX / 2, 1}, negative[] = {2, -3},
                       many[] = {1 << 30, 1 << 30};
  EXPECT_EQ(failure([](of_tensor_source& s) { s.bytes -= 1; }),
            "shape [2, 3] with strides [3, 1] from offset 0 does not fit into memory of 5 elements");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.offset = 1; }),
            "shape [2, 3] with strides [3, 1] from offset 1 does not fit into memory of 6 elements");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.strides = backwards; }),
            "shape [2, 3] with strides [3, -1] from offset 0 does not fit into memory of 6 elements");
  EXPECT_NE(failure([](of_tensor_source& s) { s.offset = INT64_MAX; }), "no failure");
  EXPECT_NE(failure([](of_tensor_source& s) { s.offset = -1; }), "no failure");
  EXPECT_NE(failure([](of_tensor_source& s) { s.strides = far; }), "no failure");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.sizes = negative; }), "size must not be negative, got -3");
  EXPECT_NE(failure([](of_tensor_source& s) { s.sizes = many; }), "no failure");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.rank = 33; }), "the rank must be between 0 and 32, got 33");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.rank = -1; }), "the rank must be between 0 and 32, got -1");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.data = nullptr; }), "data must not be NULL");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.sizes = nullptr; }), "sizes must not be NULL");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.dtype = static_cast<of_dtype>(99); }), "there is no dtype number 99");
  EXPECT_EQ(failure([](of_tensor_source& s) { s.data = static_cast<char*>(s.data) + 1, s.bytes = 24; }),
            "memory that is shared must be aligned to its elements of 4 bytes");
  EXPECT_NE(failure([](of_tensor_source& s) { s.device = {60, 0}; }), "no failure");
}

TEST(ForeignMemoryTest, ATensorWithoutElementsNeedsNoMemory) {
  Foreign foreign;
  const int64_t sizes[] = {0, 3};
  of_tensor_source source = foreign.source();
  source.sizes = sizes;
  source.data = nullptr;
  source.bytes = 0;
  EXPECT_EQ(create_tensor(source)->count(), 0);
  EXPECT_EQ(foreign.deleted, 1);
}

// The stride of a dimension of size 1 does not matter, so other libraries may set it to any value.
TEST(ForeignMemoryTest, UnusedStridesMayHaveAnyValue) {
  Foreign foreign;
  const int64_t sizes[] = {1, 3}, strides[] = {INT64_MIN, 1}, none[] = {0, 3};
  of_tensor_source source = foreign.source();
  source.sizes = sizes;
  source.strides = strides;
  const TensorRef tensor = create_tensor(source);
  EXPECT_EQ(tensor->strides(), (Shape{1, 1}));
  EXPECT_EQ(values(*tensor), (Values{1, 2, 3}));
  source.deleter = nullptr;
  EXPECT_EQ(values(*create_tensor(source)), (Values{1, 2, 3}));
  source.sizes = none;
  source.offset = INT64_MAX;
  EXPECT_EQ(create_tensor(source)->offset(), 0);
}

// Bool arrays of other libraries, such as NumPy, may hold bytes other than 0 and 1.
TEST(ForeignMemoryTest, ABoolMayBeAnyByte) {
  uint8_t bytes[] = {0, 2, 255, 0, 1, 128};
  of_tensor_source source{};
  const int64_t sizes[] = {6};
  source.dtype = OF_BOOL;
  source.rank = 1;
  source.sizes = sizes;
  source.data = bytes;
  source.bytes = sizeof(bytes);
  source.deleter = [](void*) {};
  const TensorRef odd = create_tensor(source);
  EXPECT_TRUE(equal(*odd, *make_tensor({6}, {0, 1, 1, 0, 1, 1}, OF_BOOL)));
  static constinit const OperatorName kCast("cast"), kNonzero("nonzero"), kSum("sum");
  EXPECT_EQ(values(*call_operator(kCast, odd, OF_FLOAT32)), (Values{0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(values(*call_operator(kNonzero, odd)), (Values{1, 2, 4, 5}));
  EXPECT_EQ(values(*call_operator(kSum, odd)), (Values{4}));
}

TEST(TensorTest, LiveTensorsAreCounted) {
  const uint64_t before = Tensor::live_count();
  {
    std::vector<TensorRef> tensors;
    for (int i = 0; i < 3000; ++i) tensors.push_back(Tensor::allocate(Shape{4}, OF_FLOAT32, {0, 0}));
    EXPECT_EQ(Tensor::live_count(), before + 3000);
    std::thread([moved = std::move(tensors)]() mutable { moved.clear(); }).join();
  }
  EXPECT_EQ(Tensor::live_count(), before);
}

TEST(TensorTest, TensorsWithoutMemoryHaveNoData) {
  const TensorRef tensor = Tensor::without_memory(Shape{2, 3}, OF_FLOAT32, {0, 0});
  EXPECT_EQ(tensor->strides(), (Shape{3, 1}));
  EXPECT_THROW(tensor->data(), Error);
  EXPECT_THROW(tensor->mutable_data(), Error);
  EXPECT_FALSE(cloned(*tensor)->has_memory());
}

TEST(TensorTest, EqualityComparesValues) {
  const TensorRef a = make_tensor({2, 2}, {1, 2, 3, 4});
  const TensorRef transposed = make_tensor({2, 2}, {1, 3, 2, 4});
  EXPECT_TRUE(equal(*a, *Tensor::view(*transposed, Shape{2, 2}, Shape{1, 2}, 0)));
  EXPECT_FALSE(equal(*a, *transposed));
  EXPECT_FALSE(equal(*a, *make_tensor({4}, {1, 2, 3, 4})));
  EXPECT_FALSE(equal(*a, *make_tensor({2, 2}, {1, 2, 3, 4}, OF_FLOAT64)));
  EXPECT_TRUE(equal(*make_tensor({1}, {0.0}, OF_FLOAT16), *make_tensor({1}, {-0.0}, OF_FLOAT16)));
  EXPECT_FALSE(equal(*make_tensor({1}, {NAN}), *make_tensor({1}, {NAN})));
  EXPECT_TRUE(equal(*make_tensor({0, 3}, {}), *make_tensor({0, 3}, {})));
}

}  // namespace
}  // namespace oneflow
