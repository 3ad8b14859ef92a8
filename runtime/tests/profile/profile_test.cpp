// Tests what profiles record, and what they say about it.
#include <gtest/gtest.h>
#include <oneflow/profile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "dispatch/dispatch.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constexpr of_layer kOuter = OF_LAYER_AUTOGRAD + 1;

constinit const OperatorName kAdd("add");
constinit const OperatorName kEinsum("einsum");
constinit const OperatorName kMatmul("matmul");
constinit const OperatorName kNeg("neg");
constinit const OperatorName kLogsumexp("logsumexp");
constinit const OperatorName kTranspose("transpose");

using Names = std::vector<std::string>;

// A profile that runs until end(), or as long as the object lives.
class Profile {
 public:
  Profile() { EXPECT_EQ(of_profile_begin(&handle_), OF_OK) << of_last_error(); }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  ~Profile() { of_profile_release(handle_); }

  void end() { EXPECT_EQ(of_profile_end(handle_), OF_OK) << of_last_error(); }
  of_profile handle() const { return handle_; }

  std::vector<of_profile_entry> entries() const {
    std::vector<of_profile_entry> entries(of_profile_count(handle_));
    for (size_t i = 0; i < entries.size(); ++i) {
      entries[i].struct_size = sizeof(of_profile_entry);
      EXPECT_EQ(of_profile_at(handle_, i, &entries[i]), OF_OK) << of_last_error();
    }
    return entries;
  }
  Names names() const {
    Names names;
    for (const of_profile_entry& entry : entries()) names.push_back(entry.name);
    return names;
  }
  std::string table() const { return text(of_profile_table); }
  std::string trace() const { return text(of_profile_trace); }

 private:
  std::string text(of_status (*format)(of_profile, char**)) const {
    char* text = nullptr;
    EXPECT_EQ(format(handle_, &text), OF_OK) << of_last_error();
    const std::string copy = text ? text : "";
    of_free(text);
    return copy;
  }

  of_profile handle_ = nullptr;
};

std::vector<int64_t> sizes_of(const of_profile_tensor& tensor) {
  return {tensor.shape.sizes, tensor.shape.sizes + tensor.shape.rank};
}

TEST(Profile, RecordsCallsWhileItRuns) {
  const TensorRef x = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}), row = make_tensor({3}, {1, 2, 3}, OF_FLOAT64);
  call_operator(kNeg, x);
  Profile profile;
  call_operator(kAdd, x, row);
  profile.end();
  call_operator(kNeg, x);
  ASSERT_EQ(profile.names(), Names{"add"});
  const of_profile_entry entry = profile.entries()[0];
  EXPECT_EQ(entry.op, of_op_find("add"));
  EXPECT_STREQ(entry.caller, "add");
  EXPECT_EQ(entry.device.type, 0);
  EXPECT_EQ(entry.thread, 0);
  EXPECT_EQ(entry.parent, -1);
  EXPECT_GE(entry.start, 0);
  EXPECT_GT(entry.host_time, 0);
  EXPECT_EQ(entry.self_time, entry.host_time);
  EXPECT_EQ(entry.device_time, -1) << "the host computes at once";
  EXPECT_EQ(entry.memory, 48u);
  EXPECT_EQ(entry.bytes, 24u + 24 + 48);
  EXPECT_EQ(entry.operations, 0);
  EXPECT_FALSE(entry.failed);
  ASSERT_EQ(entry.operand_count, 2u);
  EXPECT_EQ(entry.operands[0].dtype, OF_FLOAT32);
  EXPECT_EQ(sizes_of(entry.operands[0]), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(entry.operands[1].dtype, OF_FLOAT64);
  EXPECT_EQ(sizes_of(entry.operands[1]), (std::vector<int64_t>{3}));
  ASSERT_EQ(entry.result_count, 1u);
  EXPECT_EQ(entry.results[0].dtype, OF_FLOAT64);
}

TEST(Profile, NestsTheCallsOfBodies) {
  Profile profile;
  call_operator(kLogsumexp, make_tensor({2}, {1, 2}), 0);
  profile.end();
  const auto entries = profile.entries();
  ASSERT_GT(entries.size(), 2u);
  EXPECT_STREQ(entries[0].name, "logsumexp");
  int64_t inside = 0;
  for (size_t i = 1; i < entries.size(); ++i) {
    EXPECT_GE(entries[i].parent, 0) << entries[i].name;
    EXPECT_STREQ(entries[i].caller, "logsumexp");
    if (entries[i].parent == 0) inside += entries[i].host_time;
  }
  EXPECT_EQ(entries[0].self_time, entries[0].host_time - inside);
}

TEST(Profile, CountsTheOperationsOfContractions) {
  const TensorRef a = make_tensor({2, 3}, {1, 2, 3, 4, 5, 6}), b = make_tensor({3, 4}, std::vector<double>(12, 1));
  Profile profile;
  call_operator(kMatmul, a, b);
  call_operator(kMatmul, a, make_tensor({3}, {1, 2, 3}));
  std::array operands{to_handle(a.get()), to_handle(b.get())};
  call_operator(kEinsum, "ij,jk->ijk", to_value(operands));
  call_operator(kTranspose, a, 0, 1);
  profile.end();
  std::vector<double> operations;
  uint64_t view_bytes = 1;
  for (const of_profile_entry& entry : profile.entries()) {
    if (entry.parent < 0) operations.push_back(entry.operations);
    view_bytes = entry.bytes;
  }
  EXPECT_EQ(operations, (std::vector<double>{48, 12, 48, 0}));
  EXPECT_EQ(view_bytes, 0u) << "views move no data";
}

TEST(Profile, RecordsFailures) {
  const TensorRef x = make_tensor({2}, {1, 2}), y = make_tensor({3}, {1, 2, 3});
  Profile profile;
  EXPECT_THROW(call_operator(kAdd, x, y), Error);
  call_operator(kNeg, x);
  profile.end();
  const auto entries = profile.entries();
  ASSERT_EQ(profile.names(), (Names{"add", "neg"}));
  EXPECT_TRUE(entries[0].failed);
  EXPECT_EQ(entries[0].result_count, 0u);
  EXPECT_FALSE(entries[1].failed);
}

TEST(Profile, LeavesInferenceOut) {
  Profile profile;
  const TensorRef input = Tensor::without_memory(Shape{2}, OF_FLOAT32, {});
  const of_value argument = to_value(input);
  of_value result{};
  ASSERT_EQ(of_infer(of_op_find("neg"), &argument, 1, &result, 1), OF_OK);
  of_value_release(&result);
  profile.end();
  EXPECT_EQ(profile.names(), Names{});
}

TEST(Profile, KeepsTheWordsOfManyAndLongCalls) {
  std::vector<TensorRef> tensors;
  std::vector<of_tensor> list;
  for (int i = 0; i < 1000; ++i) tensors.push_back(make_tensor({1, 1}, {1}));
  for (const TensorRef& tensor : tensors) list.push_back(to_handle(tensor.get()));
  const TensorRef x = make_tensor({2}, {1, 2});
  Profile profile;
  for (int i = 0; i < 5000; ++i) call_operator(kNeg, x);
  const OperatorName cat("cat");
  call_operator(cat, to_value(std::span(list)));
  profile.end();
  const auto entries = profile.entries();
  ASSERT_GE(entries.size(), 5001u);
  EXPECT_STREQ(entries[4999].name, "neg");
  EXPECT_EQ(sizes_of(entries[4999].operands[0]), std::vector<int64_t>{2});
  EXPECT_STREQ(entries[5000].name, "cat");
  EXPECT_EQ(entries[5000].operand_count, 0u) << "a list that is too long for a note is omitted";
  EXPECT_EQ(sizes_of(entries[5000].results[0]), (std::vector<int64_t>{1000, 1}));
}

TEST(Profile, RunsOneAtATime) {
  Profile first;
  of_profile second = nullptr;
  EXPECT_EQ(of_profile_begin(&second), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "profile: a profile is running; it must end before the next one begins");
  char* text = nullptr;
  EXPECT_EQ(of_profile_table(first.handle(), &text), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "profile: it must end before it is read");
  EXPECT_EQ(of_profile_count(first.handle()), 0u);
  first.end();
  EXPECT_EQ(of_profile_end(first.handle()), OF_INVALID_ARGUMENT);
  EXPECT_STREQ(of_last_error(), "profile: the profile is not running");
  Profile third;
  call_operator(kNeg, make_tensor({1}, {1}));
  third.end();
  EXPECT_EQ(first.names(), Names{});
  EXPECT_EQ(third.names(), Names{"neg"});
}

TEST(Profile, EndsWhenItIsReleased) {
  { Profile profile; }
  Profile next;
  next.end();
}

TEST(Profile, SeesAllThreads) {
  Profile profile;
  const TensorRef x = make_tensor({1}, {1});
  call_operator(kNeg, x);
  for (int t = 0; t < 2; ++t)
    std::thread([&] {
      call_operator(kAdd, x, x);
      call_operator(kNeg, x);
    }).join();
  profile.end();
  EXPECT_EQ(profile.names(), (Names{"neg", "add", "neg", "add", "neg"}));
  std::vector<int> threads;
  for (const of_profile_entry& entry : profile.entries()) threads.push_back(entry.thread);
  EXPECT_EQ(threads, (std::vector<int>{0, 1, 1, 2, 2}));
}

// For ThreadSanitizer: a profile ends while other threads call.
TEST(Profile, MayEndWhileThreadsCall) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      const TensorRef x = make_tensor({2}, {1, 2});
      while (!is_over) call_operator(kLogsumexp, x, 0);
    });
  for (int i = 0; i < 20; ++i) {
    Profile profile;
    call_operator(kNeg, make_tensor({1}, {1}));
    profile.end();
    const auto entries = profile.entries();
    for (size_t k = 0; k < entries.size(); ++k) {
      EXPECT_LT(entries[k].parent, static_cast<int64_t>(k));
      if (entries[k].parent < 0) continue;
      EXPECT_EQ(entries[static_cast<size_t>(entries[k].parent)].thread, entries[k].thread);
    }
  }
  is_over = true;
  for (std::thread& caller : callers) caller.join();
}

TEST(Profile, GoesOnInAForkedChild) {
  const TensorRef x = make_tensor({1}, {1});
  Profile profile;
  call_operator(kNeg, x);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    call_operator(kAdd, x, x);
    profile.end();
    _exit(profile.names() == Names{"neg", "add"} ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  profile.end();
  EXPECT_EQ(profile.names(), Names{"neg"});
}

TEST(Profile, CannotEndWithinACallThatItSees) {
  Profile profile;
  of_status status = OF_OK;
  struct Context {
    of_profile profile;
    of_status* status;
  } context{profile.handle(), &status};
  const auto end = [](void* context, of_layer_call* call) {
    *static_cast<Context*>(context)->status = of_profile_end(static_cast<Context*>(context)->profile);
    return of_layer_next(call, OF_BODY_SEEN);
  };
  ASSERT_EQ(of_layer_install(kOuter, OF_LAYER_ALL_CALLS, end, &context), OF_OK);
  call_operator(kNeg, make_tensor({1}, {1}));
  ASSERT_EQ(of_layer_remove(kOuter), OF_OK);
  EXPECT_EQ(status, OF_INVALID_ARGUMENT);
  profile.end();
  EXPECT_EQ(profile.names(), Names{"neg"});
}

// ---------------------------------------------------------------- texts

TEST(Profile, MakesATableWithTheLongestTimeFirst) {
  const TensorRef large = make_tensor({300, 300}, std::vector<double>(90000, 1)), small = make_tensor({1}, {1});
  Profile profile;
  for (int i = 0; i < 3; ++i) call_operator(kNeg, small);
  call_operator(kMatmul, large, large);
  profile.end();
  const std::string table = profile.table();
  EXPECT_EQ(table.rfind("operator  calls", 0), 0u) << table;
  std::map<std::string, int64_t> times;  // which of the two is longer, the load of the machine decides
  for (const of_profile_entry& entry : profile.entries()) times[entry.name] += entry.host_time;
  const size_t matmul = table.find("\nmatmul        1"), neg = table.find("\nneg           3");
  ASSERT_NE(std::max(matmul, neg), std::string::npos) << table;
  if (times["matmul"] != times["neg"]) {
    EXPECT_EQ((matmul < neg), (times["matmul"] > times["neg"])) << table;
  }
  EXPECT_NE(table.find(" GFLOP/s\n"), std::string::npos) << table;
  EXPECT_NE(table.find(" GB/s\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\n4 calls on 1 thread in "), std::string::npos) << table;
  EXPECT_EQ(table.find("device"), std::string::npos) << "no device has times of its own";
}

TEST(Profile, MakesATable) {
  Profile profile;
  profile.end();
  EXPECT_EQ(profile.table(), "operator  calls  total  self  mean  memory  rate\n0 calls on 0 threads in 0 ns\n");
}

TEST(Profile, MakesATraceInTheFormatOfChrome) {
  Profile profile;
  call_operator(kAdd, make_tensor({2}, {1, 2}), make_tensor({1, 1}, {1}, OF_INT64));
  profile.end();
  const std::string trace = profile.trace();
  EXPECT_EQ(trace.rfind("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", 0), 0u) << trace;
  EXPECT_NE(trace.find(R"({"ph":"X","name":"add","cat":"elementwise","ts":)"), std::string::npos) << trace;
  EXPECT_NE(trace.find(R"("operands":"float32[2], int64[1, 1]","results":"float32[1, 2]")"), std::string::npos)
      << trace;
}

}  // namespace
}  // namespace oneflow
