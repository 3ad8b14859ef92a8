#include "contract/contract.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "contract/direct/direct.h"
#include "contract/direct/strips.h"
#include "contract/gemm/gemm.h"
#include "contract/offset_blocks.h"
#include "contract/problem.h"
#include "contract/rewrite/converted.h"
#include "contract/test_problems.h"
#include "plugin/test_host.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// ------------------------------------------------------------------------------------------------ the normal form

Dim dim_of(int64_t size, int64_t a, int64_t b, int64_t c) { return {size, {a, b, c, 0}}; }

TEST(NormalForm, MergesDimensionsThatAreContiguousInAllOperands) {
  const Problem problem =
      TestContraction("abk,kcd->abcd", {{'a', 4}, {'b', 5}, {'k', 6}, {'c', 7}, {'d', 8}}).problem();
  ASSERT_EQ(problem.rows.rank, 1);
  EXPECT_EQ(problem.rows.dims[0].size, 20);
  EXPECT_EQ(problem.rows.dims[0].strides[kA], 6);
  EXPECT_EQ(problem.rows.dims[0].strides[kC], 56);
  ASSERT_EQ(problem.columns.rank, 1);
  EXPECT_EQ(problem.columns.dims[0].size, 56);
  EXPECT_EQ(problem.batch.rank, 0);
  EXPECT_EQ(problem.batch.count, 1);
  EXPECT_EQ(problem.depth.count, 6);
}

TEST(NormalForm, KeepsDimensionsThatOneOperandHasElsewhere) {
  const std::map<char, int64_t> sizes{{'a', 4}, {'b', 5}, {'k', 6}, {'c', 7}, {'p', 3}};
  Problem problem = TestContraction("bak,kc->abc", sizes).problem();
  EXPECT_EQ(problem.rows.rank, 2);
  problem = TestContraction("ak,kc->ac", sizes).lay_out(kA, {"ak", 2}).problem();
  EXPECT_EQ(problem.rows.rank, 1);
  problem = TestContraction("abk,kc->abc", sizes).lay_out(kC, {"bac"}).problem();
  EXPECT_EQ(problem.rows.rank, 2);
  problem = TestContraction("apk,pkc->ac", sizes).problem();
  EXPECT_EQ(problem.depth.rank, 1);
  problem = TestContraction("apk,kpc->ac", sizes).problem();
  EXPECT_EQ(problem.depth.rank, 2);
}

TEST(NormalForm, OrdersDimensionsByTheirStridesInC) {
  const std::map<char, int64_t> sizes{{'a', 4}, {'b', 5}, {'c', 6}, {'k', 7}, {'j', 3}};
  const Problem problem = TestContraction("abck,kj->cabj", sizes).problem();
  ASSERT_EQ(problem.rows.rank, 2);
  EXPECT_EQ(problem.rows.dims[0].size, 6);
  EXPECT_EQ(problem.rows.dims[1].size, 20);
}

TEST(NormalForm, OrdersTheDepthByTheOperandWithTheLongerSide) {
  std::map<char, int64_t> sizes{{'i', 9}, {'p', 4}, {'q', 5}, {'j', 8}};
  Problem problem = TestContraction("ipq,jqp->ij", sizes).problem();
  EXPECT_EQ(longer_operand(problem), kA);
  EXPECT_EQ(problem.depth.dims[1].strides[kA], 1);
  sizes['j'] = 10;
  problem = TestContraction("ipq,jqp->ij", sizes).problem();
  EXPECT_EQ(longer_operand(problem), kB);
  EXPECT_EQ(problem.depth.dims[1].strides[kB], 1);
}

TEST(NormalForm, NegativeStridesAreOrderedByTheirSize) {
  DimGroup group;
  group.add(dim_of(3, 1, 0, 1));
  group.add(dim_of(4, -10, 0, -3));
  canonicalize(group, kA, kC);
  ASSERT_EQ(group.rank, 2);
  EXPECT_EQ(group.dims[0].strides[kA], -10);
  DimGroup reversed;
  reversed.add(dim_of(3, -1, 0, -1));
  reversed.add(dim_of(4, -3, 0, -3));
  canonicalize(reversed, kA, kC);
  ASSERT_EQ(reversed.rank, 1);
  EXPECT_EQ(reversed.dims[0].size, 12);
  EXPECT_EQ(reversed.dims[0].strides[kA], -1);
}

TEST(DimGroup, AddsTakesAndResizesDimensions) {
  DimGroup group;
  for (const int64_t size : {3, 4, 5}) group.add(dim_of(size, size, 0, 1));
  EXPECT_EQ(group.count, 60);
  group.resize(1, 2);
  EXPECT_EQ(group.count, 30);
  EXPECT_EQ(take(group, 0).size, 3);
  EXPECT_EQ(group.count, 10);
  ASSERT_EQ(group.rank, 2);
  EXPECT_EQ(group.dims[0].strides[kA], 4);
  DimGroup all;
  all.append(group);
  all.append(group, 1);
  EXPECT_EQ(all.rank, 3);
  EXPECT_EQ(all.count, 20);
  const Problem problem = TestContraction("bik,bkj->bij", {{'b', 2}, {'i', 3}, {'k', 4}, {'j', 5}}).problem();
  EXPECT_EQ(dims_of_c(problem).count, 30);
}

// ------------------------------------------------------------------------------------------------ offsets

std::vector<int64_t> naive_offsets(const DimGroup& group, Operand operand) {
  std::vector<int64_t> offsets{0};
  for (int d = 0; d < group.rank; ++d) {
    std::vector<int64_t> next;
    for (const int64_t offset : offsets)
      for (int64_t i = 0; i < group.dims[d].size; ++i) next.push_back(offset + i * group.dims[d].strides[operand]);
    offsets = next;
  }
  return offsets;
}

TEST(Offsets, AreThoseOfTheIndices) {
  const std::vector<std::vector<int64_t>> shapes = {
      {},        {1},         {70},        {300},        {5, 7},        {3, 100},    {100, 3},
      {2, 3, 4}, {300, 2, 2}, {2, 300, 2}, {7, 5, 3, 4}, {2, 2, 90, 3}, {64, 4, 64}, {9, 8, 7, 2, 2}};
  for (const auto& sizes : shapes) {
    DimGroup group;
    int64_t stride = 1;
    for (const int64_t size : sizes) {
      group.add(dim_of(size, stride, -2 * stride, 3));
      stride *= size + 1;
    }
    for (const Operand operand : {kA, kB, kC}) {
      const std::vector<int64_t> expected = naive_offsets(group, operand);
      EXPECT_EQ(all_offsets(group, operand), expected);
      for (const int64_t start : {int64_t{0}, int64_t{1}, group.count / 3, group.count - 1}) {
        for (const int64_t count : {int64_t{1}, int64_t{5}, int64_t{65}, group.count}) {
          if (start + count > group.count) continue;
          std::vector<int64_t> offsets(static_cast<size_t>(count));
          fill_offsets(group, operand, start, count, offsets.data());
          EXPECT_EQ(offsets, std::vector<int64_t>(expected.begin() + start, expected.begin() + start + count));
        }
      }
      for (int64_t i = 0; i < group.count; i += 7)
        EXPECT_EQ(offset_at(group, operand, i), expected[static_cast<size_t>(i)]);
    }
  }
}

TEST(Offsets, RunsCountTheNeighboursFromEachOffsetOn) {
  EXPECT_EQ(all_runs({4, 5, 6, 8, 9, 9, 3}), (std::vector<int64_t>{3, 2, 1, 2, 1, 1, 1}));
  EXPECT_EQ(all_runs({}), std::vector<int64_t>{});
}

TEST(Offsets, BlocksCoverEachElementOnce) {
  DimGroup group;
  group.add(dim_of(30, 100, 7, 1));
  group.add(dim_of(41, 1, 0, 30));
  for (const int64_t work : {int64_t{1}, int64_t{1000}, int64_t{1} << 20}) {
    std::vector<std::atomic<int>> visits(static_cast<size_t>(group.count));
    for_each_offset_block(group, work, [&](int64_t count, const int64_t(*offsets)[kOffsetBlock]) {
      EXPECT_LE(count, kOffsetBlock);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = offsets[kA][i] / 100, column = offsets[kA][i] % 100;
        EXPECT_EQ(offsets[kB][i], 7 * row);
        EXPECT_EQ(offsets[kC][i], row + 30 * column);
        ++visits[static_cast<size_t>(offsets[kC][i])];
      }
    });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
  }
}

// ------------------------------------------------------------------------------------------------ strategies

TEST(Strategies, TypicalProblems) {
  const auto sizes = [](int64_t i, int64_t k, int64_t j) {
    return std::map<char, int64_t>{{'i', i}, {'k', k}, {'j', j}, {'b', 50}};
  };
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT64, OF_INT64}) {
    // Large matrices are packed.
    expect_refused({"ik,kj->ij", sizes(600, 700, 800), dtype}, solve_in_strips);
    expect_refused({"ik,kj->ij", sizes(600, 700, 800), dtype}, offer_directly);
    // Products with a vector, dot products, outer products and small matrices are not.
    EXPECT_NE(solve_by(offer_directly, TestContraction("ik,k->i", sizes(600, 700, 1), dtype).problem()), nullptr);
    EXPECT_NE(solve_by(offer_directly, TestContraction("ki,k->i", sizes(600, 700, 1), dtype).problem()), nullptr);
    EXPECT_NE(solve_by(offer_directly, TestContraction("bk,bk->b", sizes(1, 700, 1), dtype).problem()), nullptr);
    EXPECT_NE(solve_by(offer_directly, TestContraction("i,j->ij", sizes(600, 1, 700), dtype).problem()), nullptr);
    EXPECT_NE(solve_by(offer_directly, TestContraction("bik,bkj->bij", sizes(4, 4, 4), dtype).problem()), nullptr);
    // Only packing has an epilogue.
    expect_refused(TestContraction("ik,k->i", sizes(600, 700, 1), dtype).scale(2, 0), offer_directly);
    expect_refused(TestContraction("bik,bkj->bij", sizes(4, 4, 4), dtype).scale(1, 1), offer_directly);
  }
  expect_refused({"ik,kj->ij", sizes(20, 20, 20), OF_FLOAT16}, offer_directly);
  EXPECT_NE(solve_by(offer_converted, TestContraction("ik,kj->ij", sizes(20, 20, 20), OF_FLOAT16).problem()), nullptr);
}

// ------------------------------------------------------------------------------------------------ the hook

class Contract : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    set_test_host();
    set_thread_count(GetParam());
  }
  void TearDown() override { set_thread_count(threads_); }

 private:
  const int threads_ = thread_count();
};
INSTANTIATE_TEST_SUITE_P(Threads, Contract, testing::Values(1, 3));

of_dtype compute_dtype(of_dtype dtype) {
  switch (dtype) {
    case OF_FLOAT16:
    case OF_BFLOAT16:
      return OF_FLOAT32;
    case OF_INT8:
    case OF_INT16:
      return OF_INT32;
    case OF_UINT8:
    case OF_UINT16:
      return OF_UINT32;
    default:
      return dtype;
  }
}

// The descriptor of a contraction, without its addresses.
class Descriptor {
 public:
  explicit Descriptor(const TestContraction& contraction) {
    const Problem problem = contraction.problem();
    contraction.for_each_dim([&](DimGroup Problem::*group, const Dim& dim) {
      dims_of(group).push_back({dim.size, dim.strides[kA], dim.strides[kB], dim.strides[kC]});
    });
    descriptor_.struct_size = sizeof descriptor_;
    descriptor_.dtype = problem.dtype;
    descriptor_.compute = compute_dtype(problem.dtype);
    descriptor_.alpha = problem.alpha;
    descriptor_.beta = problem.beta;
    descriptor_.bias_stride = problem.has_bias ? 1 : 0;
  }

  void move_to_batch(std::vector<of_contraction_dim>& group, size_t index) {
    const auto dim = group.begin() + static_cast<std::ptrdiff_t>(index);
    batch.push_back(*dim);
    group.erase(dim);
  }

  of_contraction with(const Addresses& addresses) const {
    of_contraction result = descriptor_;
    const auto set = [](const std::vector<of_contraction_dim>& dims, int32_t& count, const of_contraction_dim*& data) {
      count = static_cast<int32_t>(dims.size());
      data = dims.data();
    };
    set(batch, result.batch_count, result.batch);
    set(m, result.m_count, result.m);
    set(n, result.n_count, result.n);
    set(k, result.k_count, result.k);
    result.a = addresses.operands[kA];
    result.b = addresses.operands[kB];
    result.c = addresses.c;
    result.bias = addresses.operands[kBias];
    return result;
  }

  std::vector<of_contraction_dim> batch, m, n, k;

 private:
  std::vector<of_contraction_dim>& dims_of(DimGroup Problem::*group) {
    return group == &Problem::batch ? batch : group == &Problem::rows ? m : group == &Problem::columns ? n : k;
  }

  of_contraction descriptor_{};
};

void expect_contracted(const TestContraction& contraction) {
  const Descriptor descriptor(contraction);
  contraction.expect_computed([&](const Addresses& addresses) {
    const of_contraction call = descriptor.with(addresses);
    return contract(&call);
  });
}

constexpr of_dtype kAllDtypes[] = {OF_BOOL,  OF_INT8,   OF_UINT8,   OF_INT16,    OF_UINT16,  OF_INT32,  OF_UINT32,
                                   OF_INT64, OF_UINT64, OF_FLOAT16, OF_BFLOAT16, OF_FLOAT32, OF_FLOAT64};

TEST_P(Contract, AllDtypesAndRoles) {
  const std::map<char, int64_t> sizes{{'b', 3}, {'i', 14}, {'k', 9}, {'j', 11}, {'h', 2}, {'p', 1}};
  for (const of_dtype dtype : kAllDtypes) {
    for (const char* equation :
         {"ik,kj->ij", "ik,kj->ji", "ki,jk->ij", "bik,bkj->bij", "bhik,bhkj->bhij", "bihk,bkhj->bhij", "i,j->ij",
          "k,k->", "ik,k->i", "k,kj->j", "bk,bk->b", "ik,bkj->bij", "bik,kj->bij", "pik,kjp->pij", "ij,ij->ij"})
      expect_contracted({equation, sizes, dtype});
  }
}

// Rows and columns are exchanged where C is contiguous along the columns, or there are too few rows to fill a vector.
TEST_P(Contract, EitherSideMayBeContiguousOrShort) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT16, OF_INT64}) {
    for (const auto& [i, j] : {std::pair{200, 150}, {150, 200}, {5, 200}, {200, 5}, {1, 300}, {300, 1}}) {
      for (const char* c : {"ij", "ji"}) {
        TestContraction contraction("ik,kj->ij", {{'i', i}, {'k', 70}, {'j', j}}, dtype);
        expect_contracted(contraction.lay_out(kC, {c}));
        expect_contracted(contraction.scale(2, 1));
      }
    }
  }
}

TEST_P(Contract, ScalesAddsToCAndAddsABias) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT64, OF_BFLOAT16, OF_INT32}) {
    for (const auto& [i, j] : {std::pair{40, 30}, {3, 50}, {50, 3}}) {
      TestContraction contraction("ik,kj->ij", {{'i', i}, {'k', 20}, {'j', j}}, dtype);
      expect_contracted(contraction.scale(3, -2));
      expect_contracted(contraction.scale(1, 0).add_bias());
      TestContraction batch("bik,bkj->bij", {{'b', 4}, {'i', i}, {'k', 20}, {'j', j}}, dtype);
      expect_contracted(batch.scale(2, 1));
      TestContraction columns("ik,kcd->cid", {{'i', i}, {'k', 20}, {'c', j}, {'d', 4}}, dtype);
      expect_contracted(columns.add_bias());
    }
  }
}

// A batch dimension that only A or only B has belongs to the rows or columns.
TEST_P(Contract, BatchDimensionsOfOneOperand) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT16, OF_INT32}) {
    const TestContraction contraction("abik,bckj->abcij", {{'a', 3}, {'b', 4}, {'c', 5}, {'i', 6}, {'k', 7}, {'j', 8}},
                                      dtype);
    Descriptor descriptor(contraction);
    descriptor.move_to_batch(descriptor.m, 0);
    descriptor.move_to_batch(descriptor.n, 0);
    contraction.expect_computed([&](const Addresses& addresses) {
      const of_contraction call = descriptor.with(addresses);
      EXPECT_EQ(call.batch_count, 3);
      return contract(&call);
    });
  }
}

TEST_P(Contract, EmptyDimensions) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT16, OF_BOOL, OF_INT64}) {
    expect_contracted({"ik,kj->ij", {{'i', 5}, {'k', 0}, {'j', 6}}, dtype});
    expect_contracted({"ik,kj->ij", {{'i', 0}, {'k', 4}, {'j', 6}}, dtype});
    expect_contracted({"ik,kj->ij", {{'i', 5}, {'k', 4}, {'j', 0}}, dtype});
    expect_contracted({"bik,bkj->bij", {{'b', 0}, {'i', 5}, {'k', 4}, {'j', 6}}, dtype});
    TestContraction contraction("ik,kj->ij", {{'i', 5}, {'k', 0}, {'j', 6}}, dtype);
    if (dtype != OF_BOOL) expect_contracted(contraction.scale(1, 3));
  }
}

TEST_P(Contract, LargeProblemsOfEachKind) {
  expect_contracted({"ik,kj->ij", {{'i', 300}, {'k', 400}, {'j', 200}}});
  expect_contracted({"ki,kj->ij", {{'i', 8}, {'k', 60000}, {'j', 9}}});
  expect_contracted({"ik,kj->ij", {{'i', 20000}, {'k', 30}, {'j', 12}}});
  expect_contracted({"kba,kn->abn", {{'a', 100}, {'b', 70}, {'k', 160}, {'n', 3}}});
  expect_contracted({"eba,bce->bce", {{'e', 40}, {'b', 40}, {'a', 40}, {'c', 40}}});
  expect_contracted({"dfac,acdef->eafdc", {{'a', 12}, {'c', 13}, {'d', 14}, {'e', 15}, {'f', 16}}});
  expect_contracted({"ab,bc->ac", {{'a', 100}, {'b', 100}, {'c', 100}}, OF_FLOAT16});
}

TEST_P(Contract, APreparedContractionRunsForOtherAddresses) {
  for (const char* equation : {"ik,kj->ij", "ik,k->i", "bik,bkj->bij"}) {
    const TestContraction contraction(equation, {{'b', 3}, {'i', 50}, {'k', 40}, {'j', 30}});
    const Descriptor descriptor(contraction);
    void* prepared = nullptr;
    for (int call = 0; call < 3; ++call) {
      contraction.expect_computed([&](const Addresses& addresses) {
        of_contraction with_memory = descriptor.with(addresses);
        with_memory.prepared = &prepared;
        return contract(&with_memory);
      });
      ASSERT_NE(prepared, nullptr);
    }
    discard_contraction(prepared);
  }
  // An empty C leaves something to discard, too.
  const TestContraction empty("ik,kj->ij", {{'i', 0}, {'k', 4}, {'j', 6}});
  const Descriptor descriptor(empty);
  of_contraction call = descriptor.with({});
  void* prepared = nullptr;
  call.prepared = &prepared;
  EXPECT_EQ(contract(&call), OF_OK);
  EXPECT_EQ(contract(&call), OF_OK);
  discard_contraction(prepared);
}

// Narrow integers are computed in wider ones, and the low bits stored.
TEST_P(Contract, IntegersWrapAround) {
  const int8_t a[] = {100, 100, 100, -100, 50, 3}, b[] = {100, 3, 7};  // 2 x 3 by 3
  int8_t c[2] = {};
  const of_contraction_dim m{2, 3, 0, 1}, k{3, 1, 1, 0};
  of_contraction call{};
  call.struct_size = sizeof call;
  call.dtype = OF_INT8;
  call.compute = OF_INT32;
  call.m_count = call.k_count = 1;
  call.m = &m;
  call.k = &k;
  call.a = a;
  call.b = b;
  call.c = c;
  call.alpha = 1;
  EXPECT_EQ(contract(&call), OF_OK);
  EXPECT_EQ(c[0], static_cast<int8_t>(11000));
  EXPECT_EQ(c[1], static_cast<int8_t>(-9829));
}

TEST_P(Contract, Errors) {
  const TestContraction contraction("ik,kj->ij", {{'i', 5}, {'k', 4}, {'j', 6}});
  const Descriptor descriptor(contraction);
  of_contraction call = descriptor.with({});
  call.compute = OF_FLOAT64;
  EXPECT_EQ(contract(&call), OF_UNSUPPORTED);
  EXPECT_EQ(last_text, "contraction: this combination of element types is not implemented");
  call = descriptor.with({});
  call.epilogue = 1;
  EXPECT_EQ(contract(&call), OF_UNSUPPORTED);
  for (const auto& [dtype, compute] : {std::pair{OF_INT64, OF_INT32},
                                       {OF_INT32, OF_FLOAT32},
                                       {OF_FLOAT16, OF_FLOAT16},
                                       {OF_BOOL, OF_INT32},
                                       {OF_FLOAT32, OF_INT64}}) {
    call = descriptor.with({});
    call.dtype = dtype;
    call.compute = compute;
    EXPECT_EQ(contract(&call), OF_UNSUPPORTED) << dtype << " in " << compute;
  }

  call = descriptor.with({});
  call.n_count = OF_MAX_RANK + 1;
  EXPECT_EQ(contract(&call), OF_INVALID_ARGUMENT);
  EXPECT_EQ(last_text, "contraction: " + std::to_string(OF_MAX_RANK + 1) + " dimensions in one group");
  call.n_count = -1;
  EXPECT_EQ(contract(&call), OF_INVALID_ARGUMENT);

  Descriptor negative(contraction);
  negative.k[0].size = -4;
  call = negative.with({});
  EXPECT_EQ(contract(&call), OF_INVALID_ARGUMENT);
  EXPECT_EQ(last_text, "contraction: a size is negative");
}

}  // namespace
}  // namespace oneflow::cpu
