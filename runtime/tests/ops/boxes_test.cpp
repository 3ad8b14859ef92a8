// Tests that a box of a result is computed with the elements that the whole result has there, on every device.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dispatch/dispatch.h"
#include "dispatch/operator.h"
#include "tests/support/test_tensors.h"

namespace oneflow {
namespace {

constexpr uint64_t kSeed = 11;

// A box of a tensor: where it begins, and its sizes.
struct Box {
  Shape origin, sizes;
};

// Calls an operator, or computes one box of its result. The caller releases the result.
of_status call_part(const char* name, const std::vector<of_value>& arguments, const Shape& whole, const Box* box,
                    of_value* result) {
  if (!box) return of_call(of_op_find(name), arguments.data(), arguments.size(), result, 1);
  const of_box given{sizeof(of_box), whole.rank(), whole.data(), box->origin.data(), box->sizes.data()};
  return of_call_box(of_op_find(name), arguments.data(), arguments.size(), &given, result, 1);
}

// Makes the arguments for a result of the given sizes on a device. `tensor` has the sizes of the box.
using Arguments = std::function<std::vector<of_value>(const Shape&, of_device, const Tensor&, Generator&)>;

const std::map<std::string, Arguments>& arguments() {
  static const auto creation = [](std::vector<of_value> more) -> Arguments {
    return [more](const Shape& sizes, of_device device, const Tensor&, Generator&) {
      std::vector<of_value> values{to_value(sizes)};
      values.insert(values.end(), more.begin(), more.end());
      values.push_back(kDefault);
      values.push_back(to_value(device));
      return values;
    };
  };
  static const auto random = [](std::vector<of_value> before, of_value dtype) -> Arguments {
    return [=](const Shape& sizes, of_device device, const Tensor&, Generator& generator) {
      std::vector<of_value> values = before;
      for (const of_value& each : {to_value(sizes), dtype, to_value(device), to_value(generator)})
        values.push_back(each);
      return values;
    };
  };
  static const auto like = [](std::vector<of_value> more) -> Arguments {
    return [more](const Shape&, of_device, const Tensor& tensor, Generator&) {
      std::vector<of_value> values{to_value(tensor)};
      values.insert(values.end(), more.begin(), more.end());
      return values;
    };
  };
  static const std::map<std::string, Arguments> all = {
      {"zeros", creation({})},
      {"ones", creation({})},
      {"full", creation({to_value(2.5)})},
      {"zeros_like", like({})},
      {"ones_like", like({})},
      {"full_like", like({to_value(7)})},
      {"rand", random({}, kDefault)},
      {"randn", random({}, to_value(OF_FLOAT16))},
      {"randint", random({to_value(1000)}, kDefault)},
      {"randint.low", random({to_value(-5), to_value(1000)}, to_value(OF_INT32))},
      {"dropout_mask",
       [](const Shape&, of_device, const Tensor& tensor, Generator& generator) {
         return std::vector<of_value>{to_value(tensor), to_value(0.25), to_value(generator)};
       }},
      {"arange",
       [](const Shape& sizes, of_device device, const Tensor&, Generator&) {
         return std::vector<of_value>{to_value(sizes[0]), kDefault, to_value(device)};
       }},
      {"arange.start",
       [](const Shape& sizes, of_device device, const Tensor&, Generator&) {
         return std::vector<of_value>{to_value(3), to_value(3 + 2 * sizes[0]), to_value(2), kDefault, to_value(device)};
       }},
      {"linspace",
       [](const Shape& sizes, of_device device, const Tensor&, Generator&) {
         return std::vector<of_value>{to_value(-1.0), to_value(2.0), to_value(sizes[0]), kDefault, to_value(device)};
       }},
      {"eye",
       [](const Shape& sizes, of_device device, const Tensor&, Generator&) {
         return std::vector<of_value>{to_value(sizes[0]), to_value(sizes[1]), kDefault, to_value(device)};
       }},
  };
  return all;
}

// The ranks of the results of an operator, if it does not have results of any rank.
int rank_of(const std::string& name) {
  if (name == "eye") return 2;
  return name == "arange" || name == "arange.start" || name == "linspace" ? 1 : 0;
}

struct Case {
  Shape whole;
  std::vector<Box> boxes;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{50000}, {{{0}, {50000}}, {{0}, {1}}, {{49999}, {1}}, {{17001}, {20003}}, {{50000}, {0}}}},
      {{150, 301},
       {{{0, 0}, {150, 301}},
        {{20, 0}, {77, 301}},
        {{0, 5}, {150, 290}},
        {{3, 300}, {140, 1}},
        {{149, 7}, {1, 64}},
        {{9, 9}, {0, 5}}}},
      {{7, 11, 130},
       {{{2, 0, 0}, {3, 11, 130}},
        {{2, 3, 0}, {3, 5, 130}},
        {{1, 2, 3}, {5, 8, 113}},
        {{6, 10, 129}, {1, 1, 1}},
        {{0, 4, 0}, {7, 1, 130}}}},
      {{1, 2, 3, 2, 2}, {{{0, 1, 1, 0, 1}, {1, 1, 2, 2, 1}}}},
  };
  return all;
}

// Returns the bytes of a contiguous tensor on any device.
std::vector<char> bytes_of(const Tensor& tensor) {
  std::vector<char> bytes(tensor.bytes());
  if (!bytes.empty()) read_elements(tensor, bytes.data());
  return bytes;
}

// Returns the first device of each type.
std::vector<of_device> devices() {
  std::vector<of_device> found;
  for (size_t i = 0; i < of_device_count(); ++i)
    if (of_device_at(i).index == 0) found.push_back(of_device_at(i));
  return found;
}

void test(const std::string& name, const Case& each, of_device device) {
  const auto draw = [&](const Box* box) {
    const Ref<Generator> generator = Generator::create(kSeed);
    const TensorRef like = Tensor::allocate(box ? box->sizes : each.whole, OF_FLOAT32, device);
    of_value result{};
    EXPECT_EQ(
        call_part(name.c_str(), arguments().at(name)(each.whole, device, *like, *generator), each.whole, box, &result),
        OF_OK)
        << of_last_error();
    return std::pair(TensorRef::adopt(to_tensor(result.as.tensor)), generator->state().offset);
  };
  const auto [whole, drawn] = draw(nullptr);
  for (const Box& box : each.boxes) {
    const auto [part, drawn_for_part] = draw(&box);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->sizes(), box.sizes);
    EXPECT_EQ(drawn_for_part, drawn) << "the numbers of the whole are reserved";
    int64_t offset = 0;
    for (int d = 0; d < whole->rank(); ++d) offset += box.origin[d] * whole->stride(d);
    if (part->count() == 0) offset = 0;
    const TensorRef expected = Tensor::view(*whole, box.sizes, whole->strides(), offset);
    EXPECT_TRUE(bytes_of(*part) == bytes_of(*expected))
        << name << " on " << device_name(device) << ": box at " << to_text(box.origin) << " of size "
        << to_text(box.sizes) << " of " << to_text(each.whole);
  }
}

TEST(Boxes, HaveTheElementsOfTheWhole) {
  for (const of_device device : devices()) {
    size_t tested = 0;
    for (const Operator& op : operators()) {
      if (!op.schema().has_boxes) continue;
      const std::string name = op.schema().name;
      ASSERT_TRUE(arguments().contains(name)) << name << " needs arguments for this test";
      ++tested;
      for (const Case& each : cases())
        if (rank_of(name) == 0 || rank_of(name) == each.whole.rank()) test(name, each, device);
    }
    EXPECT_EQ(tested, arguments().size());
  }
}

TEST(Boxes, AreWrittenToTensorsOfTheCaller) {
  const TensorRef target = make_tensor({2, 4}, {0, 0, 0, 0, 0, 0, 0, 0}, OF_INT64);
  const TensorRef view = Tensor::view(*target, Shape{2, 2}, Shape{4, 2}, 1);
  of_value result = to_value(view);
  const Box rows{{1, 1}, {2, 2}};
  ASSERT_EQ(call_part("eye", {to_value(4), kDefault, to_value(OF_INT64)}, {4, 4}, &rows, &result), OF_OK)
      << of_last_error();
  EXPECT_EQ(values(*target), (std::vector<double>{0, 1, 0, 0, 0, 0, 0, 1}));
}

TEST(Boxes, OfComplexTensorsHaveRealElements) {
  of_value result{};
  const Box box{{2}, {3}};
  ASSERT_EQ(call_part("arange", {to_value(6), to_value(OF_COMPLEX64)}, {6}, &box, &result), OF_OK) << of_last_error();
  const TensorRef made = TensorRef::adopt(to_tensor(result.as.tensor));
  EXPECT_EQ(made->dtype(), OF_COMPLEX64);
  std::vector<float> parts(6);
  read_elements(*made, parts.data());
  EXPECT_EQ(parts, (std::vector<float>{2, 0, 3, 0, 4, 0}));
}

TEST(Boxes, PassLayers) {
  const auto pass_on = [](void* seen, of_layer_call* call) {
    of_layer_call_info info{};
    info.struct_size = sizeof(info);
    EXPECT_EQ(of_layer_get_call(call, &info), OF_OK);
    *static_cast<int64_t*>(seen) = info.box ? info.box->origin[0] : -1;
    return of_layer_forward(call, OF_BODY_HIDDEN, info.op, info.args, info.arg_count);
  };
  int64_t seen = 0;
  ASSERT_EQ(of_layer_install(OF_LAYER_PROFILE, OF_LAYER_ALL_CALLS, pass_on, &seen), OF_OK);
  const Box box{{2}, {3}};
  of_value result{};
  EXPECT_EQ(call_part("arange", {to_value(6)}, {6}, &box, &result), OF_OK) << of_last_error();
  of_layer_remove(OF_LAYER_PROFILE);
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(values(*to_tensor(result.as.tensor)), (std::vector<double>{2, 3, 4}));
  of_value_release(&result);
}

TEST(Boxes, AreChecked) {
  const Ref<Generator> generator = Generator::create(kSeed);
  const auto failure = [&](const char* name, const std::vector<of_value>& given, const Shape& whole, const Box& box) {
    of_value result{};
    EXPECT_NE(call_part(name, given, whole, &box, &result), OF_OK);
    EXPECT_EQ(result.kind, OF_VALUE_ABSENT);
    return std::string(of_last_error());
  };
  const Shape four{4}, huge{int64_t{1} << 40, int64_t{1} << 40};
  const std::vector<of_value> rand{to_value(four), kDefault, kDefault, to_value(generator)};
  EXPECT_EQ(failure("rand", rand, four, {{3}, {2}}),
            "rand: the box must be within dimension 0 of size 4, got origin 3 and size 2");
  EXPECT_EQ(failure("rand", rand, four, {{-1}, {2}}),
            "rand: the box must be within dimension 0 of size 4, got origin -1 and size 2");
  EXPECT_EQ(failure("rand", rand, four, {{1}, {INT64_MAX}}),
            "rand: the box must be within dimension 0 of size 4, got origin 1 and size 9223372036854775807");
  EXPECT_EQ(failure("rand", rand, Shape{5}, {{3}, {1}}),
            "rand: the arguments must be those of a tensor of shape [5], of which the box is a part, got shape [4]");
  EXPECT_NE(failure("rand", rand, huge, {{0, 0}, {1, 1}}).find("rand: "), std::string::npos);
  EXPECT_EQ(failure("neg", {to_value(four)}, four, {{0}, {1}}),
            "neg: only operators of kind generator compute parts of their results, this one is of kind elementwise");
  const TensorRef x = make_tensor({3}, {1, 2, 3});
  EXPECT_EQ(failure("zeros_like", {to_value(x)}, four, {{1}, {2}}),
            "zeros_like: the arguments must be those of a tensor of shape [2], the box, got shape [3]");
  of_value result{};
  of_box missing{sizeof(of_box), 1, nullptr, nullptr, nullptr};
  EXPECT_EQ(of_call_box(of_op_find("rand"), rand.data(), rand.size(), &missing, &result, 1), OF_INVALID_ARGUMENT);
  missing.rank = 33;
  EXPECT_EQ(of_call_box(of_op_find("rand"), rand.data(), rand.size(), &missing, &result, 1), OF_SHAPE_ERROR);
  EXPECT_EQ(of_call_box(of_op_find("rand"), rand.data(), rand.size(), nullptr, &result, 1), OF_INVALID_ARGUMENT);
  EXPECT_EQ(generator->state().offset, 0u) << "calls that fail draw nothing";
}

}  // namespace
}  // namespace oneflow
