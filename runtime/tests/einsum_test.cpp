// The parts of einsum that no front end can reach: orders of products against all orders, devices without contractions,
// threads that share operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "dispatch/dispatch.h"
#include "einsum/path.h"
#include "test_tensors.h"

namespace oneflow::einsum {
namespace {

struct Network {
  std::vector<LabelSet> operands;
  LabelSet output;
  std::vector<int64_t> sizes;
};

Network random_network(size_t count, std::mt19937& random) {
  Network network;
  constexpr int kLabels = 9;
  for (int label = 0; label < kLabels; ++label) network.sizes.push_back(2 + static_cast<int64_t>(random() % 6));
  LabelSet used;
  for (size_t i = 0; i < count; ++i) {
    LabelSet labels;
    for (int k = 0; k < 3; ++k) labels.set(random() % kLabels);
    network.operands.push_back(labels);
    used |= labels;
  }
  for (int label = 0; label < kLabels; ++label)
    if (used[label] && random() % 4 == 0) network.output.set(label);
  return network;
}

double volume(const LabelSet& labels, const std::vector<int64_t>& sizes) {
  double product = 1;
  for (size_t label = 0; label < sizes.size(); ++label)
    if (labels[label]) product *= static_cast<double>(sizes[label]);
  return product;
}

// What the product of two members of a list keeps.
LabelSet kept(const std::vector<LabelSet>& list, size_t i, size_t j, const LabelSet& output) {
  LabelSet wanted = output;
  for (size_t other = 0; other < list.size(); ++other)
    if (other != i && other != j) wanted |= list[other];
  return (list[i] | list[j]) & wanted;
}

std::vector<LabelSet> multiplied(std::vector<LabelSet> list, size_t i, size_t j, const LabelSet& output) {
  const LabelSet product = kept(list, i, j, output);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(j));
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
  list.push_back(product);
  return list;
}

// Checks on the way that every operand and product is used once, and keeps what is needed later and nothing else.
double work_of(const Network& network, const std::vector<Step>& path) {
  std::vector<LabelSet> list = network.operands;
  std::vector<size_t> numbers(list.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  size_t next = list.size();
  double work = 0;
  for (const Step& step : path) {
    const auto [first, second] = std::minmax(step.left, step.right);
    const auto left = std::find(numbers.begin(), numbers.end(), first);
    const auto right = std::find(numbers.begin(), numbers.end(), second);
    if (left >= right || right == numbers.end()) {
      ADD_FAILURE() << "a step multiplies " << step.left << " and " << step.right;
      return work;
    }
    const auto i = static_cast<size_t>(left - numbers.begin()), j = static_cast<size_t>(right - numbers.begin());
    work += volume(list[i] | list[j], network.sizes);
    list = multiplied(list, i, j, network.output);
    EXPECT_EQ(list.back(), step.labels);
    numbers.erase(right);
    numbers.erase(left);
    numbers.push_back(next++);
  }
  EXPECT_EQ(list.size(), 1u);
  return work;
}

double least_work(const Network& network, const std::vector<LabelSet>& list) {
  if (list.size() == 1) return 0;
  double least = INFINITY;
  for (size_t i = 0; i < list.size(); ++i)
    for (size_t j = i + 1; j < list.size(); ++j)
      least = std::min(least, volume(list[i] | list[j], network.sizes) +
                                  least_work(network, multiplied(list, i, j, network.output)));
  return least;
}

TEST(PathTest, NoOrderOfFewOperandsNeedsLessWork) {
  std::mt19937 random(0);
  for (int round = 0; round < 60; ++round) {
    const Network network = random_network(2 + round % 4, random);
    const std::vector<Step> path = find_path(network.operands, network.output, network.sizes);
    EXPECT_EQ(work_of(network, path), least_work(network, network.operands)) << round;
  }
}

TEST(PathTest, ManyOperandsAreMultipliedInSomeOrder) {
  std::mt19937 random(1);
  const Network network = random_network(60, random);
  EXPECT_GT(work_of(network, find_path(network.operands, network.output, network.sizes)), 0);
  EXPECT_TRUE(find_path(std::span(network.operands).first(1), network.output, network.sizes).empty());
}

TensorRef call_einsum(const char* equation, const std::vector<TensorRef>& operands) {
  static const OperatorName name("einsum");
  std::vector<of_tensor> handles;
  for (const TensorRef& operand : operands) handles.push_back(to_handle(operand.get()));
  return call_operator(name, equation, std::span<of_tensor>(handles));
}

TEST(EinsumTest, BytesThatAreNoTextAreNamedByNumber) {
  const TensorRef a = make_tensor({2}, {1, 2});
  const std::pair<const char*, const char*> cases[] = {
      {"i\xff", "'\\xff' at position 1"},        {"\x80i", "'\\x80' at position 0"},     // out of place
      {"i\xe2\x82", "'\\xe2' at position 1"},    {"\xc1\xa9", "'\\xc1' at position 0"},  // cut short, overlong
      {"\xed\xa0\x80", "'\\xed' at position 0"}, {"\xc3\xa9", "'\xc3\xa9' (U+00E9) at position 0"},
  };
  for (const auto& [equation, found] : cases) {
    try {
      call_einsum(equation, {a});
      ADD_FAILURE() << equation;
    } catch (const Error& error) {
      EXPECT_EQ(error.text(), std::string("einsum: equation has an unexpected ") + found);
    }
  }
}

TEST(EinsumTest, ADeviceWithoutContractionsGetsThemFromTheHost) {
  const of_device far = far_device();
  const TensorRef a = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_FLOAT32, far);
  const TensorRef turned = Tensor::view(*a, Shape{3, 2}, Shape{-1, 3}, 2);
  const TensorRef product = call_einsum("ij,jk->ki", {a, turned});
  EXPECT_EQ(product->device().type, far.type);
  EXPECT_EQ(values(*product), (std::vector<double>{10, 28, 28, 73}));
  EXPECT_EQ(values(*call_einsum("ij,jk,k->i", {a, turned, make_tensor({2}, {1, 2}, OF_FLOAT32, far)})),
            (std::vector<double>{66, 174}));
}

TEST(EinsumTest, ThreadsShareOperandsAndKeepPlansOfTheirOwn) {
  const TensorRef a = make_tensor({4, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, OF_INT64);
  const std::vector<double> want = values(*call_einsum("ij,jk->ik", {a, a}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        wrong += values(*call_einsum("ij,jk->ik", {a, a})) != want;
        wrong += values(*call_einsum("ii->", {a})) != std::vector<double>{34};
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(EinsumTest, InferenceReadsNoData) {
  static const OperatorName name("matmul");
  const TensorRef a = Tensor::without_memory(Shape{7, 2, 3}, OF_FLOAT16, {0, 0});
  const TensorRef b = Tensor::without_memory(Shape{3, 5}, OF_FLOAT32, {0, 0});
  const of_value arguments[] = {to_value(a), to_value(b)};
  of_value result{};
  infer(*name, arguments, {&result, 1});
  const Tensor& shape = *to_tensor(result.as.tensor);
  EXPECT_EQ(shape.sizes(), (Shape{7, 2, 5}));
  EXPECT_EQ(shape.dtype(), OF_FLOAT32);
  EXPECT_FALSE(shape.has_memory());
  release_value(result);
}

}  // namespace
}  // namespace oneflow::einsum
