// The parts of einsum that no front end can reach: orders of products against all orders, devices without contractions,
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
#include "test_tensors.h"

namespace oneflow::einsum {
namespace {

// Sets of labels, apart from what the search works with.
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

// What is left of the operands after some products.
using Sets = std::vector<Set>;

Sets operands_of(const Network& network) {
  Sets sets;
  for (const LabelList& labels : network.operands) sets.push_back(set_of(labels));
  return sets;
}

// What the product of two of them keeps.
Set kept(const Sets& left, size_t i, size_t j, const Set& output) {
  Set wanted = output;
  for (size_t other = 0; other < left.size(); ++other)
    if (other != i && other != j) wanted |= left[other];
  return (left[i] | left[j]) & wanted;
}

double work_of(const Network& network, const Sets& left, size_t i, size_t j) {
  const Set all = left[i] | left[j];
  return network.volume(list_of(all)) * (kept(left, i, j, set_of(network.output)) == all ? 1 : 2);
}

Sets multiplied(const Network& network, Sets left, size_t i, size_t j) {
  const Set product = kept(left, i, j, set_of(network.output));
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
  left.push_back(product);
  return left;
}

struct Found {
  double work = 0, largest = 0;
};

// Checks on the way that every operand and product is used once.
Found measure(const Network& network, const Path& path) {
  Sets left = operands_of(network);
  Found found;
  const std::vector<int64_t> positions = to_positions(path, left.size());
  for (size_t step = 0; step < path.size(); ++step) {
    const auto i = static_cast<size_t>(positions[2 * step]), j = static_cast<size_t>(positions[2 * step + 1]);
    if (i == j || std::max(i, j) >= left.size()) {
      ADD_FAILURE() << "step " << step << " multiplies " << i << " and " << j << " of " << left.size();
      return found;
    }
    found.work += work_of(network, left, i, j);
    left = multiplied(network, left, i, j);
    if (left.size() > 1) found.largest = std::max(found.largest, network.volume(list_of(left.back())));
  }
  EXPECT_EQ(left.size(), 1u);
  EXPECT_EQ(cost_of(network, path).operations, found.work);
  return found;
}

// The least of all orders whose intermediates keep the limit.
double least_work(const Network& network, const Sets& left, double limit) {
  if (left.size() == 1) return 0;
  double least = INFINITY;
  for (size_t i = 0; i < left.size(); ++i) {
    for (size_t j = i + 1; j < left.size(); ++j) {
      const Sets rest = multiplied(network, left, i, j);
      if (rest.size() > 1 && network.volume(list_of(rest.back())) > limit) continue;
      least = std::min(least, work_of(network, left, i, j) + least_work(network, rest, limit));
    }
  }
  return least;
}

TEST(PathTest, NoOrderOfFewOperandsNeedsLessWork) {
  std::mt19937 random(0);
  for (int round = 0; round < 60; ++round) {
    const Network network = random_network(2 + static_cast<size_t>(round) % 4, random);
    EXPECT_EQ(measure(network, find_path(network)).work, least_work(network, operands_of(network), kUnlimited));
  }
}

TEST(PathTest, LimitsAreKeptWhereTheyCanBe) {
  std::mt19937 random(2);
  int kept = 0, broken = 0;
  for (int round = 0; round < 60; ++round) {
    const Network network = random_network(4, random);
    for (const double limit : {1.0, 8.0, 40.0, 200.0}) {
      const double least = least_work(network, operands_of(network), limit);
      const Found found = measure(network, find_path(network, Search::kAuto, limit));
      if (std::isinf(least)) {
        ++broken;
        EXPECT_TRUE(std::isinf(least_work(network, operands_of(network), std::nextafter(found.largest, 0.0))));
      } else {
        ++kept;
        EXPECT_EQ(found.work, least);
        EXPECT_LE(found.largest, limit);
      }
    }
  }
  EXPECT_GT(kept, 20);
  EXPECT_GT(broken, 20);
}

TEST(PathTest, ManyOperandsAreMultipliedInSomeOrder) {
  std::mt19937 random(1);
  for (const size_t count : {11, 17, 60}) {
    const Network network = random_network(count, random);
    for (const Search search : {Search::kAuto, Search::kGreedy, Search::kInOrder})
      EXPECT_GT(measure(network, find_path(network, search)).work, 0);
    EXPECT_LE(measure(network, find_path(network)).work, measure(network, find_path(network, Search::kGreedy)).work);
  }
}

TEST(PathTest, ImprovingMakesAPathNoWorse) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const Network network = random_network(20, random);
    const Path path = find_path(network, Search::kInOrder);
    EXPECT_LE(measure(network, improve_path(network, path, kUnlimited)).work, measure(network, path).work);
  }
}

TEST(PathTest, PositionsAndStepsSayTheSame) {
  std::mt19937 random(4);
  const Network network = random_network(9, random);
  const Path path = find_path(network);
  const Path again = from_positions(to_positions(path, 9), 9, "path");
  EXPECT_EQ(measure(network, again).work, measure(network, path).work);
}

TEST(PathTest, OneOperandNeedsNoProduct) {
  std::mt19937 random(5);
  EXPECT_TRUE(find_path(random_network(1, random)).empty());
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
      {"i\xff", "\\xff"},        {"\x80i", "\\x80"},     // out of place
      {"i\xe2\x82", "\\xe2"},    {"\xc1\xa9", "\\xc1"},  // cut short, overlong
      {"\xed\xa0\x80", "\\xed"},
  };
  for (const auto& [equation, found] : cases) {
    try {
      call_einsum(equation, {a});
      ADD_FAILURE() << equation;
    } catch (const Error& error) {
      const std::string words = "einsum: equation has an unexpected '" + std::string(found) + "'; labels are letters";
      EXPECT_EQ(error.text().substr(0, words.size()), words);
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
