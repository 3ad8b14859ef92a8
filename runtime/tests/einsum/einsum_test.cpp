// Tests of einsum that front ends cannot express: paths compared with all possible paths, devices without contractions,
// threads that share operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <random>
#include <thread>

#include "dispatch/dispatch.h"
#include "einsum/improve_path.h"
#include "einsum/path.h"
#include "tests/support/test_tensors.h"

namespace oneflow::einsum {
namespace {

// Sets of labels, implemented independently of the search.
constexpr int kLabels = 9;
using Set = std::bitset<kLabels>;

Set set_of(const LabelList& labels) {
  Set set;
  for (const int label : labels) set.set(static_cast<size_t>(label));
  return set;
}

LabelList list_of(const Set& set) {
  LabelList labels;
  for (int label = 0; label < kLabels; ++label)
    if (set[static_cast<size_t>(label)]) labels.push_back(label);
  return labels;
}

Network random_network(size_t count, std::mt19937& random) {
  Network network;
  for (int label = 0; label < kLabels; ++label) network.sizes.push_back(2 + static_cast<double>(random() % 6));
  Set used, output;
  for (size_t i = 0; i < count; ++i) {
    Set labels;
    for (int k = 0; k < 3; ++k) labels.set(random() % kLabels);
    network.operands.push_back(list_of(labels));
    used |= labels;
  }
  for (size_t label = 0; label < kLabels; ++label)
    if (used[label] && random() % 4 == 0) output.set(label);
  network.output = list_of(output);
  return network;
}

// The labels of the remaining operands and products.
using Sets = std::vector<Set>;

Sets operands_of(const Network& network) {
  Sets sets;
  for (const LabelList& labels : network.operands) sets.push_back(set_of(labels));
  return sets;
}

// Returns the labels of the product of two operands: those that the output or another operand has.
Set kept(const Sets& operands, size_t i, size_t j, const Set& output) {
  Set needed = output;
  for (size_t other = 0; other < operands.size(); ++other)
    if (other != i && other != j) needed |= operands[other];
  return (operands[i] | operands[j]) & needed;
}

// Returns the operations of the product of two operands.
double operations_of(const Network& network, const Sets& operands, size_t i, size_t j) {
  const Set all = operands[i] | operands[j];
  return network.volume(list_of(all)) * (kept(operands, i, j, set_of(network.output)) == all ? 1 : 2);
}

// Returns the operands with two of them replaced by their product.
Sets multiplied(const Network& network, Sets operands, size_t i, size_t j) {
  const Set product = kept(operands, i, j, set_of(network.output));
  operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
  operands.push_back(product);
  return operands;
}

// The cost of a path: its operations, and the elements of its largest intermediate.
struct Measured {
  double operations = 0, largest = 0;
};

// Computes the cost of a path, and checks that each operand and product is used exactly once.
Measured measure(const Network& network, const Path& path) {
  Sets remaining = operands_of(network);
  Measured found;
  const std::vector<int64_t> positions = to_positions(path, remaining.size());
  for (size_t step = 0; step < path.size(); ++step) {
    const auto i = static_cast<size_t>(positions[2 * step]), j = static_cast<size_t>(positions[2 * step + 1]);
    if (i == j || std::max(i, j) >= remaining.size()) {
      ADD_FAILURE() << "step " << step << " multiplies " << i << " and " << j << " of " << remaining.size();
      return found;
    }
    found.operations += operations_of(network, remaining, i, j);
    remaining = multiplied(network, remaining, i, j);
    if (remaining.size() > 1) found.largest = std::max(found.largest, network.volume(list_of(remaining.back())));
  }
  EXPECT_EQ(remaining.size(), 1u);
  EXPECT_EQ(cost_of(network, path).operations, found.operations);
  return found;
}

// Returns the fewest operations of all paths whose intermediates have at most `limit` elements; infinity without any.
double fewest_operations(const Network& network, const Sets& operands, double limit) {
  if (operands.size() == 1) return 0;
  double fewest = INFINITY;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t j = i + 1; j < operands.size(); ++j) {
      const Sets rest = multiplied(network, operands, i, j);
      if (rest.size() > 1 && network.volume(list_of(rest.back())) > limit) continue;
      fewest = std::min(fewest, operations_of(network, operands, i, j) + fewest_operations(network, rest, limit));
    }
  }
  return fewest;
}

TEST(PathTest, PathsOfFewOperandsHaveTheFewestOperations) {
  std::mt19937 random(0);
  for (int round = 0; round < 60; ++round) {
    const Network network = random_network(2 + static_cast<size_t>(round) % 4, random);
    EXPECT_EQ(measure(network, find_path(network)).operations,
              fewest_operations(network, operands_of(network), kUnlimited));
  }
}

TEST(PathTest, LimitIsKeptIfPossibleElseIntermediatesAreSmallest) {
  std::mt19937 random(2);
  int kept = 0, broken = 0;
  for (int round = 0; round < 60; ++round) {
    const Network network = random_network(4, random);
    for (const double limit : {1.0, 8.0, 40.0, 200.0}) {
      const double fewest = fewest_operations(network, operands_of(network), limit);
      const Measured found = measure(network, find_path(network, Search::kAuto, limit));
      if (std::isinf(fewest)) {
        ++broken;
        EXPECT_TRUE(std::isinf(fewest_operations(network, operands_of(network), std::nextafter(found.largest, 0.0))));
      } else {
        ++kept;
        EXPECT_EQ(found.operations, fewest);
        EXPECT_LE(found.largest, limit);
      }
    }
  }
  EXPECT_GT(kept, 20);
  EXPECT_GT(broken, 20);
}

TEST(PathTest, PathsOfManyOperandsAreValidAndAutoIsNoWorseThanGreedy) {
  std::mt19937 random(1);
  for (const size_t count : {11, 17, 60}) {
    const Network network = random_network(count, random);
    for (const Search search : {Search::kAuto, Search::kGreedy, Search::kInOrder})
      EXPECT_GT(measure(network, find_path(network, search)).operations, 0);
    EXPECT_LE(measure(network, find_path(network)).operations,
              measure(network, find_path(network, Search::kGreedy)).operations);
  }
}

TEST(PathTest, ImprovePathNeverIncreasesTheOperations) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const Network network = random_network(20, random);
    const Path path = find_path(network, Search::kInOrder);
    EXPECT_LE(measure(network, improve_path(network, path, kUnlimited)).operations, measure(network, path).operations);
  }
}

TEST(PathTest, PathConvertsToPositionsAndBack) {
  std::mt19937 random(4);
  const Network network = random_network(9, random);
  const Path path = find_path(network);
  const Path again = from_positions(to_positions(path, 9), 9, "path");
  EXPECT_EQ(measure(network, again).operations, measure(network, path).operations);
}

TEST(PathTest, PathOfOneOperandIsEmpty) {
  std::mt19937 random(5);
  EXPECT_TRUE(find_path(random_network(1, random)).empty());
}

TensorRef call_einsum(const char* equation, const std::vector<TensorRef>& operands) {
  static const OperatorName name("einsum");
  std::vector<of_tensor> handles;
  for (const TensorRef& operand : operands) handles.push_back(to_handle(operand.get()));
  return call_operator(name, equation, std::span<of_tensor>(handles));
}

TEST(EinsumTest, ErrorsEscapeInvalidUtf8) {
  const TensorRef a = make_tensor({2}, {1, 2});
  const std::pair<const char*, const char*> cases[] = {
      {"i\xff", "\\xff"},        {"\x80i", "\\x80"},     // an invalid byte, a continuation byte without a start
      {"i\xe2\x82", "\\xe2"},    {"\xc1\xa9", "\\xc1"},  // truncated, overlong
      {"\xed\xa0\x80", "\\xed"},                         // a surrogate
  };
  for (const auto& [equation, found] : cases) {
    try {
      call_einsum(equation, {a});
      ADD_FAILURE() << equation;
    } catch (const Error& error) {
      const std::string message = "einsum: equation has an unexpected '" + std::string(found) + "'; labels are letters";
      EXPECT_EQ(error.text().substr(0, message.size()), message);
    }
  }
}

TEST(EinsumTest, DeviceWithoutContractionsFallsBackToTheHost) {
  const of_device far = far_device();
  const TensorRef a = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}, OF_FLOAT32, far);
  const TensorRef reversed_transpose = Tensor::view(*a, Shape{3, 2}, Shape{-1, 3}, 2);
  const TensorRef product = call_einsum("ij,jk->ki", {a, reversed_transpose});
  EXPECT_EQ(product->device().type, far.type);
  EXPECT_EQ(values(*product), (std::vector<double>{10, 28, 28, 73}));
  EXPECT_EQ(values(*call_einsum("ij,jk,k->i", {a, reversed_transpose, make_tensor({2}, {1, 2}, OF_FLOAT32, far)})),
            (std::vector<double>{66, 174}));
}

TEST(EinsumTest, ThreadsThatShareOperandsGetCorrectResults) {
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

TEST(EinsumTest, InferenceNeedsNoMemory) {
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
