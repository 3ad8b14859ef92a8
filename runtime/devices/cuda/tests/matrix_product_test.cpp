// Compares matrix products with the contractions that they stand for, for random contractions in every layout. In place
// of the library, the tests compute a product as its documentation specifies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "../../grid/driver.h"
#include "../arrangement.h"

namespace oneflow::cuda {
namespace {

using grid::Problem;
using grid::Role;

enum { kBatch, kM, kN, kK, kGroups };  // the groups of a contraction's dimensions

// A contraction of random sizes. The dimensions of its operands have random orders and padding, and some batch
// dimensions are broadcast.
class Random {
 public:
  // `most` is the largest number of dimensions of rows, columns and depth.
  Random(unsigned seed, of_dtype dtype, int most = 1) : engine_(seed) {
    contraction_.struct_size = sizeof contraction_;
    contraction_.dtype = dtype;
    contraction_.compute = dtype == OF_FLOAT64 ? OF_FLOAT64 : OF_INT32;
    contraction_.alpha = 1;
    for (int group = 0; group < kGroups; ++group) {
      const int count = group == kBatch ? below(4) : most == 1 ? 1 : 1 + below(most);
      for (int d = 0; d < count; ++d) groups_[group].push_back({1 + below(6), 0, 0, 0});
    }
    lengths_[grid::kA] = set_strides({kBatch, kM, kK}, &of_contraction_dim::stride_a);
    lengths_[grid::kB] = set_strides({kBatch, kK, kN}, &of_contraction_dim::stride_b);
    lengths_[grid::kC] = set_strides({kBatch, kM, kN}, &of_contraction_dim::stride_c);
    const auto list = [&](int group, const of_contraction_dim*& dims, int32_t& count) {
      dims = groups_[group].data();
      count = static_cast<int32_t>(groups_[group].size());
    };
    list(kBatch, contraction_.batch, contraction_.batch_count);
    list(kM, contraction_.m, contraction_.m_count);
    list(kN, contraction_.n, contraction_.n_count);
    list(kK, contraction_.k, contraction_.k_count);
  }

  template <class T>
  std::vector<T> numbers(grid::Side side) {
    std::vector<T> numbers(static_cast<size_t>(lengths_[side]));
    for (T& number : numbers) number = static_cast<T>(below(256) - 128);
    return numbers;
  }
  of_contraction& contraction() { return contraction_; }

 private:
  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(engine_); }

  // Sets the strides of an operand; returns the number of elements that it spans.
  int64_t set_strides(std::vector<int> groups, int64_t of_contraction_dim::*stride) {
    const bool is_result = stride == &of_contraction_dim::stride_c;
    std::vector<of_contraction_dim*> dims;
    for (const int group : groups) {
      for (of_contraction_dim& dim : groups_[group]) dims.push_back(&dim);
    }
    // Half of the operands have their batch dimensions first, as is usual; the others have them in any position.
    std::shuffle(below(2) == 0 ? dims.begin() : dims.end() - 2, dims.end(), engine_);
    int64_t step = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      const bool is_batch = std::any_of(groups_[kBatch].begin(), groups_[kBatch].end(),
                                        [&](const of_contraction_dim& dim) { return &dim == dims[i]; });
      if (!is_result && is_batch && below(4) == 0) continue;
      dims[i]->*stride = step;
      step *= dims[i]->size + (below(4) == 0 ? 3 : 0);
    }
    return step;
  }

  std::mt19937 engine_;
  of_contraction contraction_{};
  std::vector<of_contraction_dim> groups_[kGroups];
  int64_t lengths_[grid::kSides] = {};
};

// Calls `use` with the offsets in A, B and C for each index of some dimensions.
template <class Use>
void walk(const of_contraction_dim* dims, int32_t count, int64_t a, int64_t b, int64_t c, Use use) {
  if (count == 0) return use(a, b, c);
  for (int64_t i = 0; i < dims->size; ++i)
    walk(dims + 1, count - 1, a + i * dims->stride_a, b + i * dims->stride_b, c + i * dims->stride_c, use);
}

// Computes the contraction: the expected result.
template <class T>
void contract(const of_contraction& it, const T* a, const T* b, T* c) {
  const auto in_sum = [&](int64_t x, int64_t y, int64_t z) { c[z] = static_cast<T>(c[z] + a[x] * b[y]); };
  const auto in_row = [&](int64_t x, int64_t y, int64_t z) {
    c[z] = 0;
    walk(it.k, it.k_count, x, y, z, in_sum);
  };
  const auto in_product = [&](int64_t x, int64_t y, int64_t z) { walk(it.n, it.n_count, x, y, z, in_row); };
  const auto in_batch = [&](int64_t x, int64_t y, int64_t z) { walk(it.m, it.m_count, x, y, z, in_product); };
  walk(it.batch, it.batch_count, 0, 0, 0, in_batch);
}

// Computes a product as the library does for a shape.
template <class T, class Sum>
void multiply(const Shape& shape, const T* a, const T* b, Sum* d) {
  for (int64_t i = 0; i < shape.batch; ++i, a += shape.step_a, b += shape.step_b, d += shape.step_d) {
    for (int64_t column = 0; column < shape.n; ++column) {
      for (int64_t row = 0; row < shape.m; ++row) {
        Sum sum = 0;
        for (int64_t k = 0; k < shape.k; ++k) {
          const T x = a[shape.a_is_transposed != 0 ? k + row * shape.leading_a : row + k * shape.leading_a];
          const T y = b[shape.b_is_transposed != 0 ? column + k * shape.leading_b : k + column * shape.leading_b];
          sum += static_cast<Sum>(x) * static_cast<Sum>(y);
        }
        d[row + column * shape.leading_d] = sum;
      }
    }
  }
}

template <class T, class Sum>
void multiply(const MatrixProduct& product) {
  Outer outer(product);
  do {
    multiply(product.shape, reinterpret_cast<const T*>(product.a) + outer.offset(grid::kB),
             reinterpret_cast<const T*>(product.b) + outer.offset(grid::kA),
             reinterpret_cast<Sum*>(product.d) + outer.offset(grid::kC));
  } while (outer.next());
}

// Writes contiguous sums to C.
template <class T>
void take_sums(const Problem& problem, const std::vector<int32_t>& sums, T* c) {
  std::vector<int64_t> offsets{0};
  for (const Role* role : {&problem.batch, &problem.rows, &problem.columns}) {
    for (int32_t d = 0; d < role->rank; ++d) {
      std::vector<int64_t> inner;
      for (const int64_t offset : offsets) {
        for (int64_t i = 0; i < role->sizes[d]; ++i) inner.push_back(offset + i * role->strides[grid::kC][d]);
      }
      offsets = std::move(inner);
    }
  }
  ASSERT_EQ(offsets.size(), sums.size());
  for (size_t i = 0; i < sums.size(); ++i) c[offsets[i]] = static_cast<T>(sums[i]);
}

constexpr unsigned kRounds = 2000;
constexpr int kEnough = kRounds / 4;  // the least number of contractions that must be matrix products

// Compares products with contractions. `multiply` computes a problem in C; it returns false where the problem is not a
// matrix product.
template <class T, class Multiply>
void check(of_dtype dtype, Multiply multiply) {
  int made = 0;
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed, dtype);
    of_contraction& contraction = random.contraction();
    const auto a = random.numbers<T>(grid::kA), b = random.numbers<T>(grid::kB);
    auto found = random.numbers<T>(grid::kC), expected = found;
    contraction.a = a.data();
    contraction.b = b.data();
    contraction.c = found.data();
    Problem problem;
    ASSERT_TRUE(grid::make_problem(contraction, problem));
    if (!multiply(problem, found.data())) continue;
    ++made;
    contract(contraction, a.data(), b.data(), expected.data());
    ASSERT_EQ(found, expected) << "seed " << seed;
  }
  EXPECT_GT(made, kEnough);
}

TEST(MatrixProduct, IsTheContraction) {
  check<double>(OF_FLOAT64, [](const Problem& problem, double*) {
    MatrixProduct product;
    if (!make_product(problem, product)) return false;
    multiply<double, double>(product);
    return true;
  });
}

TEST(MatrixProduct, IsTheContractionAsAList) {
  check<double>(OF_FLOAT64, [](const Problem& problem, double*) {
    MatrixProduct product;
    Shape shape;
    ProductList list;
    if (!make_product(problem, product)) return false;
    if (!make_list(problem, product, shape, list)) {
      multiply<double, double>(product);
      return true;
    }
    EXPECT_EQ(list.count, problem.batch.count);
    shape.batch = 1;  // each product of the list is computed separately
    for (int64_t i = 0; i < list.count; ++i) {
      const char* a = list.address(0, i);
      const char* b = list.address(1, i);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % static_cast<uintptr_t>(shape.alignment_a), 0U);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % static_cast<uintptr_t>(shape.alignment_b), 0U);
      multiply(shape, reinterpret_cast<const double*>(a), reinterpret_cast<const double*>(b),
               reinterpret_cast<double*>(list.address(2, i)));
    }
    return true;
  });
}

// Attention in the order batch, position, head, channel: bqhd,bkhd->bhqk.
TEST(MatrixProduct, IsNotAListWhereOneProductKeepsTheDeviceBusy) {
  constexpr int64_t kHeads = 3, kChannels = 64, kRow = kHeads * kChannels;
  struct Case {
    int64_t members, queries, keys;
    bool is_listed;
  };
  for (const auto& [members, queries, keys, is_listed] :
       {Case{2, 64, 64, true}, {2, 4096, 256, false}, {1, 64, 64, false}}) {
    const of_contraction_dim batch[] = {{members, queries * kRow, keys * kRow, kHeads * queries * keys},
                                        {kHeads, kChannels, kChannels, queries * keys}};
    const of_contraction_dim m{queries, kRow, 0, keys}, n{keys, 0, kRow, 1}, k{kChannels, 1, 1, 0};
    of_contraction it{};
    it.struct_size = sizeof it;
    it.dtype = OF_FLOAT32;
    it.compute = OF_FLOAT32;
    it.alpha = 1;
    it.batch = batch;
    it.batch_count = 2;
    it.m = &m;
    it.n = &n;
    it.k = &k;
    it.m_count = it.n_count = it.k_count = 1;
    Problem problem;
    ASSERT_TRUE(grid::make_problem(it, problem));
    MatrixProduct product;
    ASSERT_TRUE(make_product(problem, product));
    Shape shape;
    ProductList list;
    EXPECT_EQ(make_list(problem, product, shape, list), is_listed) << members << " of " << queries << " queries";
  }
}

// Copies an operand from one layout to another.
void copy_operand(const OperandCopy& copy, const double* from, const int64_t* from_strides, double* to,
                  const int64_t* to_strides) {
  for (int64_t i = 0; i < copy.count; ++i) {
    int64_t rest = i, from_at = 0, to_at = 0;
    for (int32_t d = copy.rank - 1; d >= 0; --d) {
      from_at += rest % copy.sizes[d] * from_strides[d];
      to_at += rest % copy.sizes[d] * to_strides[d];
      rest /= copy.sizes[d];
    }
    to[to_at] = from[from_at];
  }
}

// Computes a problem by an arrangement of it.
void multiply(const Problem& problem, const Arrangement& arrangement) {
  Problem product = arrangement.problem;
  std::copy_n(problem.operands, grid::kSides, product.operands);
  if (arrangement.is_swapped) std::swap(product.operands[grid::kA], product.operands[grid::kB]);
  std::vector<double> copies[3];
  for (const grid::Side side : {grid::kA, grid::kB, grid::kC}) {
    const OperandCopy& copy = arrangement.copies[side];
    if (!copy.is_needed()) continue;
    copies[side].resize(static_cast<size_t>(copy.count));
    if (side != grid::kC)
      copy_operand(copy, reinterpret_cast<const double*>(product.operands[side]), copy.before, copies[side].data(),
                   copy.after);
    product.operands[side] = reinterpret_cast<const char*>(copies[side].data());
  }
  MatrixProduct matrix;
  ASSERT_TRUE(make_product(product, matrix));
  multiply<double, double>(matrix);
  const OperandCopy& result = arrangement.copies[grid::kC];
  if (result.is_needed())
    copy_operand(result, copies[grid::kC].data(), result.after,
                 reinterpret_cast<double*>(const_cast<char*>(problem.operands[grid::kC])), result.before);
}

TEST(Arrangement, EachComputesTheContraction) {
  int arrangements = 0;
  for (unsigned seed = 0; seed < kRounds / 4; ++seed) {
    Random random(seed, OF_FLOAT64, 3);
    of_contraction& contraction = random.contraction();
    const auto a = random.numbers<double>(grid::kA), b = random.numbers<double>(grid::kB);
    const auto before = random.numbers<double>(grid::kC);
    auto expected = before, found = before;
    contract(contraction, a.data(), b.data(), expected.data());
    contraction.a = a.data();
    contraction.b = b.data();
    contraction.c = found.data();
    Problem problem;
    ASSERT_TRUE(grid::make_problem(contraction, problem));
    bool is_possible = false;
    for_each_arrangement(problem, [&](const Arrangement& arrangement) {
      is_possible = true;
      ++arrangements;
      std::copy(before.begin(), before.end(), found.begin());
      multiply(problem, arrangement);
      ASSERT_EQ(found, expected) << "seed " << seed;
    });
    EXPECT_TRUE(is_possible) << "seed " << seed;
  }
  EXPECT_GT(arrangements, static_cast<int>(kRounds));
}

// Returns the arrangement of a product in float32 without batch dimensions.
Arrangement arrangement_of(const std::vector<of_contraction_dim>& m, const std::vector<of_contraction_dim>& n,
                           const std::vector<of_contraction_dim>& k) {
  of_contraction it{};
  it.struct_size = sizeof it;
  it.dtype = it.compute = OF_FLOAT32;
  it.alpha = 1;
  it.m = m.data();
  it.n = n.data();
  it.k = k.data();
  it.m_count = static_cast<int32_t>(m.size());
  it.n_count = static_cast<int32_t>(n.size());
  it.k_count = static_cast<int32_t>(k.size());
  Problem problem;
  EXPECT_TRUE(grid::make_problem(it, problem));
  return arrange(problem);
}

int count_copies(const Arrangement& arrangement) {
  return static_cast<int>(std::count_if(std::begin(arrangement.copies), std::end(arrangement.copies),
                                        [](const OperandCopy& copy) { return copy.is_needed(); }));
}

TEST(Arrangement, CopiesOnlyWhatTheLibraryCannotRead) {
  constexpr int64_t n = 384;
  // ij,jk->ik
  const Arrangement plain = arrangement_of({{n, n, 0, n}}, {{n, 0, 1, 1}}, {{n, 1, n, 0}});
  EXPECT_TRUE(plain.uses_library);
  EXPECT_EQ(count_copies(plain), 0);
  // bihw,oi->bohw: b becomes a batch dimension, where the filter repeats.
  const Arrangement convolution = arrangement_of({{64, n * n, 0, n * n}, {n, 1, 0, 1}}, {{n, 0, n, n}}, {{n, n, 1, 0}});
  EXPECT_TRUE(convolution.uses_library);
  EXPECT_EQ(count_copies(convolution), 0);
  // cad,dcb->ab: the depth has another order in each operand.
  const Arrangement depth = arrangement_of({{n, n, 0, n}}, {{n, 0, 1, 1}}, {{n, n * n, n, 0}, {n, 1, n * n, 0}});
  EXPECT_TRUE(depth.uses_library);
  EXPECT_EQ(count_copies(depth), 1);
}

TEST(Arrangement, LeavesLongDotProductsToTheLibrary) {
  const Arrangement dot = arrangement_of({}, {}, {{1 << 28, 1, 1, 0}});
  EXPECT_TRUE(dot.uses_library);
  EXPECT_EQ(count_copies(dot), 0);
}

TEST(Arrangement, LeavesSmallProductsToTheSharedKernels) {
  EXPECT_FALSE(arrangement_of({{4, 20, 0, 20}, {5, 2, 0, 1}}, {{5, 0, 1, 5}}, {{2, 1, 5, 0}}).uses_library);
}

template <class T>
bool multiply_bytes(const Problem& problem, T* c) {
  std::vector<int32_t> memory(static_cast<size_t>(problem.result_count()));
  const Problem sums = grid::sums_of(problem, memory.data());
  MatrixProduct product;
  if (!make_product(sums, product)) return false;
  EXPECT_EQ(product.shape.dtype, OF_INT8);
  multiply<int8_t, int32_t>(product);
  take_sums(problem, memory, c);
  return true;
}

TEST(MatrixProduct, SumsOfBytesWrapAround) {
  check<int8_t>(OF_INT8, multiply_bytes<int8_t>);
  check<uint8_t>(OF_UINT8, multiply_bytes<uint8_t>);
}

}  // namespace
}  // namespace oneflow::cuda
