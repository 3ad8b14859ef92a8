// Tests the C++ header: ownership, exceptions, literals, operators, methods, out and in-place forms.
#include <gtest/gtest.h>

#include <oneflow/oneflow.hpp>
#include <sstream>

namespace {

namespace flow = oneflow;

std::vector<float> floats(const flow::Tensor& tensor) { return tensor.to(flow::float32).to_vector<float>(); }
using Floats = std::vector<float>;
using Sizes = std::vector<int64_t>;

Sizes sizes(const flow::Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

template <typename E, typename F>
std::string text_of(F&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

uint64_t live_tensors() {
  of_memory_statistics statistics{};
  statistics.struct_size = sizeof statistics;
  flow::check(of_get_memory_statistics(of_default_device(), &statistics));
  return statistics.tensors;
}

TEST(CppHeader, LiteralsDetermineTheDType) {
  EXPECT_EQ(flow::tensor({1, 2}).dtype(), flow::int64);
  EXPECT_EQ(flow::tensor({1.5, 2.0}).dtype(), flow::float32);
  EXPECT_EQ(flow::tensor({true, false}).dtype(), flow::bool_);
  EXPECT_EQ(flow::tensor({1, 2}, flow::int8).dtype(), flow::int8);
  EXPECT_EQ(sizes(flow::tensor(1.5)), Sizes{});
  EXPECT_EQ(sizes(flow::tensor({{1}, {2}, {3}})), (Sizes{3, 1}));
  EXPECT_EQ(sizes(flow::tensor({{{1, 2}}})), (Sizes{1, 1, 2}));
  EXPECT_EQ(text_of<flow::ShapeError>([] {
              flow::tensor({{1, 2}, {3}});
            }),
            "tensor: lists of one depth must have the same length");
}

TEST(CppHeader, CopiesCheckTheNumberOfValues) {
  EXPECT_EQ(floats(flow::Tensor::copy_of(Floats{1, 2}, {2, 1})), (Floats{1, 2}));
  EXPECT_EQ(text_of<flow::ShapeError>([] {
              flow::Tensor::copy_of(Floats{1, 2, 3}, {2});
            }),
            "copy_of: sizes must hold 3 elements, got 2");
  EXPECT_THROW(flow::Tensor::copy_of(Floats{1}, {2}), flow::ShapeError);
  const flow::Tensor x = flow::tensor({1.0, 2.0});
  EXPECT_TRUE(x.to_device(x.device()).equals(x));
}

TEST(CppHeader, NumbersBeyondInt64AreErrors) {
  const flow::Tensor x = flow::tensor({1});
  EXPECT_EQ((x + uint64_t{INT64_MAX}).item<int64_t>(), INT64_MIN);
  EXPECT_THROW(x + UINT64_MAX, flow::InvalidArgument);
}

TEST(CppHeader, NumbersBeyondInt64AreStored) {
  const flow::Tensor x = flow::full({2}, UINT64_MAX, flow::uint64);
  EXPECT_EQ(x.to_vector<uint64_t>(), (std::vector<uint64_t>{UINT64_MAX, UINT64_MAX}));
  EXPECT_EQ(flow::masked_fill(x, x == x, uint64_t{1} << 63).to_vector<uint64_t>()[1], uint64_t{1} << 63);
}

TEST(CppHeader, OperatorsAcceptTensorsAndNumbers) {
  const flow::Tensor x = flow::tensor({1.0, 2.0});
  EXPECT_EQ(floats(x + x), (Floats{2, 4}));
  EXPECT_EQ(floats(1 - x), (Floats{0, -1}));
  EXPECT_EQ(floats(-x * 2.5), (Floats{-2.5, -5}));
  EXPECT_EQ((x > 1).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ((x > 1).to_string(), "tensor([False,  True], dtype=bool)");
  EXPECT_EQ(flow::add(x, 1).dtype(), flow::float32);
  EXPECT_EQ(flow::add(flow::tensor({1}), true).dtype(), flow::int64);
}

TEST(CppHeader, ComplexNumbersAreConverted) {
  using Number = std::complex<float>;
  const std::vector<Number> values{{1, 2}, {3, -4}};
  const flow::Tensor x = flow::Tensor::copy_of(values, {2});
  EXPECT_EQ(x.dtype(), flow::complex64);
  EXPECT_EQ(flow::conj(x).to_vector<Number>(), (std::vector<Number>{{1, -2}, {3, 4}}));
  const flow::Tensor product = flow::einsum("i,i->", {x, x});
  EXPECT_EQ(product.item<std::complex<double>>(), (std::complex<double>{-10, -20}));
  EXPECT_EQ(flow::tensor(2.5).item<Number>(), Number(2.5));
  EXPECT_THROW(product.item<float>(), flow::DTypeError);
  EXPECT_THROW(x.to_vector<float>(), flow::DTypeError);
}

TEST(CppHeader, OverloadsAreChosenByTheirArguments) {
  const flow::Tensor x = flow::tensor({{1.0, 5.0}, {7.0, 3.0}});
  EXPECT_EQ(x.max().item<float>(), 7);
  EXPECT_EQ(flow::einsum("ii", {x}, true).item<float>(), 4);
  EXPECT_EQ(flow::einsum("ij,jk,kl->", {x, x, x}, flow::Ints{1, 2, 0, 1}).item<float>(),
            flow::einsum("ij,jk,kl->", {x, x, x}).item<float>());
  EXPECT_THROW(flow::einsum("ii", {x}, "fast"), flow::InvalidArgument);  // a string, not a bool
  auto [values, indices] = x.max(1);
  EXPECT_EQ(floats(values), (Floats{5, 7}));
  EXPECT_EQ(indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(floats(flow::max(x, flow::tensor(4.0))), (Floats{4, 5, 7, 4}));
  EXPECT_EQ(floats(flow::arange(3)), (Floats{0, 1, 2}));
  EXPECT_EQ(floats(flow::arange(1, 6, 2)), (Floats{1, 3, 5}));
}

// Both overloads have defaults for all that tells them apart.
TEST(CppHeader, CallsWithoutOptionsAreNotAmbiguous) {
  const flow::Tensor x = flow::ones({1, 1, 4, 4}), weight = flow::ones({1, 1, 3, 3});
  EXPECT_EQ(sizes(flow::conv2d(x, weight)), (Sizes{1, 1, 2, 2}));
  EXPECT_EQ(sizes(flow::conv2d(x, weight, flow::Tensor(), 1, 1)), (Sizes{1, 1, 4, 4}));
  EXPECT_EQ(sizes(flow::conv2d(x, weight, flow::Tensor(), 1, "same")), (Sizes{1, 1, 4, 4}));
}

TEST(CppHeader, ListsMayBeLiteralsVectorsOrSingleNumbers) {
  const flow::Tensor x = flow::ones({2, 3});
  EXPECT_EQ(flow::sum(x).item<float>(), 6);
  EXPECT_EQ(floats(flow::sum(x, 0)), (Floats{2, 2, 2}));
  EXPECT_EQ(sizes(flow::sum(x, {0, 1}, true)), (Sizes{1, 1}));
  EXPECT_EQ(sizes(x.reshape(Sizes{3, 2})), (Sizes{3, 2}));
  EXPECT_EQ(sizes(flow::cat({x, x}, 1)), (Sizes{2, 6}));
  EXPECT_EQ(sizes(flow::stack(std::vector<flow::Tensor>{x, x})), (Sizes{2, 2, 3}));
}

TEST(CppHeader, InPlaceAndOutFormsWriteToGivenTensors) {
  flow::Tensor x = flow::tensor({1.0, 2.0});
  const void* storage = x.info().storage;
  x.add_(1).mul_(2.0);
  EXPECT_EQ(floats(x), (Floats{4, 6}));
  EXPECT_EQ(x.info().storage, storage);
  flow::Tensor result = flow::zeros({2});
  flow::add_out(x, x, result);
  EXPECT_EQ(floats(result), (Floats{8, 12}));
  flow::Tensor wrong = flow::zeros({3});
  EXPECT_THROW(flow::add_out(x, x, wrong), flow::ShapeError);
  flow::Tensor integers = flow::tensor({1});
  EXPECT_THROW(integers.add_(0.5), flow::DTypeError);
}

TEST(CppHeader, IndexingReadsAndWrites) {
  flow::Tensor x = flow::arange(6).reshape({2, 3});
  EXPECT_EQ(floats(x[1]), (Floats{3, 4, 5}));
  EXPECT_EQ(floats(x.at({flow::ellipsis, flow::Slice{1, std::nullopt}})), (Floats{1, 2, 4, 5}));
  EXPECT_EQ(sizes(x.at({flow::new_dim, 0})), (Sizes{1, 3}));
  EXPECT_EQ(floats(x.at({x > 3})), (Floats{4, 5}));
  EXPECT_TRUE(x[0].is_view());
  x.set({0, 0}, 9);
  x.set({1}, flow::tensor({7, 7, 7}));
  EXPECT_EQ(floats(x), (Floats{9, 1, 2, 7, 7, 7}));
  EXPECT_THROW(x[2], flow::IndexOutOfRange);
}

TEST(CppHeader, EachStatusHasAnExceptionClass) {
  EXPECT_EQ(text_of<flow::ShapeError>([] { flow::add(flow::ones({2}), flow::ones({3})); }),
            "add: shapes [2] and [3] do not broadcast: dimension 0 has sizes 2 and 3");
  EXPECT_EQ(text_of<flow::DTypeError>([] { flow::gelu(flow::tensor({1})); }),
            "gelu: input must be a floating-point tensor, got int64");
  EXPECT_EQ(text_of<flow::IndexOutOfRange>([] { flow::ones({2}).size(1); }),
            "size: dim must be between -1 and 0 for a tensor with 1 dimension, got 1");
  EXPECT_EQ(text_of<flow::DTypeError>([] { flow::ones({2}).to_vector<int32_t>(); }),
            "to_vector: the tensor must have dtype int32, got float32");
  EXPECT_THROW(flow::Device("nowhere"), flow::Error);
  EXPECT_THROW(flow::gelu(flow::ones({1}), "fast"), flow::InvalidArgument);
  EXPECT_EQ(text_of<flow::InvalidArgument>([] { flow::Tensor().sizes(); }), "the tensor is empty");
  EXPECT_THROW(flow::add(flow::Tensor(), 1), flow::TypeMismatch);
  try {
    flow::reshape(flow::ones({2}), {3});
    FAIL() << "nothing was thrown";
  } catch (const flow::Error& error) {
    EXPECT_EQ(error.status(), OF_SHAPE_ERROR);
  }
}

TEST(CppHeader, ListsOfTensorsAreVectors) {
  const uint64_t before = live_tensors();
  {
    const flow::Tensor x = flow::tensor({1.0, 2.0, 3.0});
    const std::vector<flow::Tensor> parts = flow::comm_local_scatter(x, {"cpu", "cpu:0"});
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(floats(parts[0]), (Floats{1, 2}));
    EXPECT_EQ(floats(flow::comm_local_gather(parts)), (Floats{1, 2, 3}));
    flow::Tensor y = flow::tensor({4.0, 5.0, 6.0});
    flow::comm_local_all_reduce_({x, y}, "max");
    EXPECT_EQ(floats(x), (Floats{4, 5, 6}));
    EXPECT_EQ(text_of<flow::InvalidArgument>([&] { flow::comm_local_broadcast(x, std::vector<flow::Device>()); }),
              "comm.local.broadcast: devices must not be empty");
  }
  EXPECT_EQ(live_tensors(), before);
}

TEST(CppHeader, EmptyTensorsStandForNone) {
  const flow::Tensor x = flow::tensor({{1.0, 2.0}}), weight = flow::tensor({{3.0, 4.0}});
  EXPECT_EQ(floats(flow::linear(x, weight)), (Floats{11}));
  EXPECT_EQ(floats(flow::linear(x, weight, flow::tensor({0.5}))), (Floats{11.5}));
  EXPECT_EQ(floats(x.clamp({}, 1)), (Floats{1, 1}));
}

TEST(CppHeader, TensorsAreReleasedWithTheLastReference) {
  const uint64_t before = live_tensors();
  {
    flow::Tensor x = flow::ones({4});
    flow::Tensor shared = x;
    EXPECT_EQ(shared.get(), x.get());
    flow::Tensor moved = std::move(x);
    EXPECT_EQ(x.get(), nullptr);
    moved = moved + 1;
    EXPECT_EQ(floats(moved), (Floats{2, 2, 2, 2}));
    EXPECT_EQ(floats(shared), (Floats{1, 1, 1, 1}));
    EXPECT_THROW(flow::add(moved, flow::ones({3})), flow::ShapeError);
  }
  EXPECT_EQ(live_tensors(), before);
}

TEST(CppHeader, SharedMemoryIsReleasedOnce) {
  Floats memory{1, 2, 3};
  int released = 0;
  {
    flow::Tensor x = flow::Tensor::share(flow::float32, memory.data(), 12, {3}, [&] { ++released; });
    const flow::Tensor view = x.at({flow::Slice{1, 3}});
    x.add_(1);
    EXPECT_EQ(floats(view), (Floats{3, 4}));
    x = flow::Tensor();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(memory, (Floats{2, 3, 4}));
  EXPECT_THROW(flow::Tensor::share(flow::float32, memory.data(), 4, {3}, [&] { ++released; }), flow::Error);
}

TEST(CppHeader, GeneratorsDrawTheNumbersOfTheirSeed) {
  flow::Generator generator(7);
  const flow::Tensor first = flow::rand({4}, std::nullopt, std::nullopt, generator);
  EXPECT_EQ(generator.get_state(), (flow::Generator::State{7, 4}));
  const flow::Generator same = generator;
  EXPECT_EQ(same.get_state(), generator.get_state());
  generator.set_state({7, 0});
  EXPECT_TRUE(flow::rand({4}, std::nullopt, std::nullopt, generator).equals(first));
  EXPECT_EQ(generator.manual_seed(9).initial_seed(), 9u);
  const uint64_t chosen = generator.seed();
  EXPECT_EQ(same.initial_seed(), chosen);
  EXPECT_EQ(flow::Generator().initial_seed(), OF_DEFAULT_SEED);

  const flow::Generator::State before = flow::default_generator().get_state();
  flow::manual_seed(7);
  EXPECT_TRUE(flow::rand({4}).equals(first));
  flow::default_generator().set_state(before);
}

TEST(CppHeader, PrintingShowsTheDTypeAndAlignsRows) {
  std::ostringstream stream;
  stream << flow::tensor({{1.0, 2.0}, {3.0, 4.0}});
  EXPECT_EQ(stream.str(), "tensor([[1., 2.],\n        [3., 4.]], dtype=float32)");
}

}  // namespace
