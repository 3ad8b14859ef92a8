// Tests the text of graphs: what is written is read again, and damaged texts are refused without harm.
#include "graph/program/text.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "device/device.h"
#include "dispatch/values.h"
#include "graph/graph.h"
#include "graph/session/session.h"

namespace oneflow::graph {
namespace {

constexpr const char* kText =
    "graph 1\n"
    "size batch = 4 in 1..64 step 1\n"
    "size time = 8 in 4..9223372036854775807 step 4\n"
    "operator add: add(Tensor|Number input, Tensor|Number other) -> Tensor\n"
    "operator clone: clone(Tensor input) -> Tensor\n"
    "operator einsum: einsum(str equation, Tensor[] operands, *, str optimize='auto', int[] path=[]) -> Tensor\n"
    "operator full: full(size[] size, Number fill_value, *, dtype? dtype=None, device? device=None) -> Tensor\n"
    "input %0 \"x\": float32[batch, time, 3]\n"
    "constant %1 \"weight \xc3\xa9\": float32[3, 2]\n"
    "%2: float32[batch, time, 2] = einsum(equation=\"btc,cd->btd\", operands=list[%0, %1])\n"
    "%3: float32[batch, (2*time + %2.1 - 1)/2] = full(size=[batch, (2*time + %2.1 - 1)/2], fill_value=-inf, "
    "dtype=float32, device=@cpu:0)\n"
    "%4: float32[batch, time, 2] = clone(input=%2)\n"
    "%4! = add(input=%4, other=1.5)\n"
    "output %4 \"y\"\n"
    "output %3 \"z\"";

std::string text_of(const char* name) {
  const Operator* op = find_operator(name);
  return std::string("operator ") + name + ": " + op->schema().signature + "\n";
}

// Returns the text with the signatures that the operators have.
std::string whole_text() {
  std::string text(kText);
  for (const char* name : {"add", "clone", "einsum", "full"}) {
    const size_t start = text.find(std::string("operator ") + name + ":");
    text.replace(start, text.find('\n', start) + 1 - start, text_of(name));
  }
  return text;
}

// Reads a text, and gives its constants elements.
Ref<Graph> read(const std::string& text) {
  Program program = parse(text);
  for (Constant& constant : program.constants) {
    const Value& value = program.values[static_cast<size_t>(constant.value)];
    Shape sizes;
    for (const SizeExpression& size : value.sizes) sizes.push_back(size.constant);
    constexpr int64_t kMostElements = 1 << 12;
    if (count_elements(sizes) > kMostElements) fail(OF_OUT_OF_MEMORY, "too large for this test");
    constant.tensor = Tensor::allocate(sizes, value.dtype, kHost);
  }
  return Graph::create(std::move(program));
}

TEST(GraphText, IsCanonical) {
  std::string text = whole_text();
  const Ref<Graph> graph = read(text);
  EXPECT_EQ(to_text(read(graph->description().text)->program()), graph->description().text);
  text.replace(text.find(" step 1\n"), 7, "");
  EXPECT_EQ(graph->description().text, text);
}

TEST(GraphText, RefusesWhatIsWrong) {
  const auto refused = [](const std::string& from, const std::string& to, const std::string& says) {
    std::string text = whole_text();
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
      read(text);
      ADD_FAILURE() << to << " is accepted";
    } catch (const Error& error) {
      EXPECT_NE(error.text().find(says), std::string::npos) << error.text();
    }
  };
  refused("graph 1", "graph 2", "it is not a graph of version 1");
  refused("operator add: add(", "operator add: plus(", "has another signature here");
  refused("operator clone", "operator klone", "this library has no operator 'klone'");
  refused("clone(input=%2)", "clone(input=%3.0)", "input must be");
  refused("clone(input=%2)", "clone(input=%9)", "%9 is used before it is defined");
  refused("clone(input=%2)", "clone(output=%2)", "there is no argument 'output'");
  refused("clone(input=%2)", "sin(input=%2)", "was not declared");
  refused("%4: float32[batch, time, 2]", "%4: float64[batch, time, 2]", "%4 must be float64");
  refused("%4: float32[batch, time, 2]", "%4: float32[batch, 2, 2]", "dimension 1 of %4 must be 2, but is 8");
  refused("%4! = add(input=%4", "%0! = add(input=%4", "it writes to %0");
  refused("%4! = add", "%1! = add", "");
  refused("size batch = 4", "size batch = 65", "does not allow its example");
  refused("size batch", "size true", "the name of a size must be a word that means nothing else");
  refused("output %3 \"z\"", "output %3 \"y\"", "there are two outputs 'y'");
  refused("output %3", "output %7", "%7 is used before it is defined");
  refused("%3: float32", "%3000000: float32", "the next value must be %3");
  refused("/2] = full", "/0] = full", "the divisor of a size must be positive");
}

// gelu as it may have been in an earlier version: arguments in another order, with other names and another default, one
// that exists no longer, and without `approximate`.
constexpr oneflow::Argument kSmoothArguments[] = {
    {.name = "x", .type_text = "Tensor", .type = ArgumentType::kTensor},
    {.name = "",
     .type_text = "str",
     .default_text = "'tanh'",
     .default_value = to_value("tanh"),
     .type = ArgumentType::kString},
    {.name = "fast",
     .type_text = "bool",
     .default_text = "True",
     .default_value = to_value(true),
     .type = ArgumentType::kBool},
};
constexpr FormerSignature kSmooth{"smooth", "smooth(bool fast=True, Tensor x) -> Tensor", kSmoothArguments};
// The same, with `approximate`, whose default was another one.
constexpr oneflow::Argument kDefaultArguments[] = {
    kSmoothArguments[0],
    {.name = "approximate",
     .type_text = "str",
     .default_text = "'tanh'",
     .default_value = to_value("tanh"),
     .type = ArgumentType::kString},
};
constexpr FormerSignature kDefault{"gelu", "gelu(Tensor x, str approximate='tanh') -> Tensor", kDefaultArguments};

StoredOperator find_former(std::string_view name, std::string_view signature) {
  for (const FormerSignature* former : {&kSmooth, &kDefault})
    if (name == former->name && signature == former->signature) return {find_operator("gelu"), former};
  return find_stored(name, signature);
}

// Reads a call of an earlier version, and returns it as the text of today has it.
std::string converted(const FormerSignature& former, const std::string& arguments) {
  const std::string text = std::string("graph 1\noperator ") + former.name + ": " + former.signature +
                           "\ninput %0 \"x\": float32[2]\n%1: float32[2] = " + former.name + "(" + arguments +
                           ")\noutput %1 \"y\"";
  const std::string now = Graph::create(parse(text, find_former))->description().text;
  EXPECT_NE(now.find(text_of("gelu")), std::string::npos) << now;
  const size_t at = now.find("= gelu(") + 2;
  return now.substr(at, now.find('\n', at) - at);
}

TEST(GraphText, ConvertsCallsOfEarlierVersions) {
  EXPECT_EQ(converted(kSmooth, "x=%0"), "gelu(input=%0, approximate=\"tanh\")");
  EXPECT_EQ(converted(kSmooth, "fast=true, x=%0"), "gelu(input=%0, approximate=\"tanh\")");
  EXPECT_EQ(converted(kDefault, "x=%0"), "gelu(input=%0, approximate=\"tanh\")");
  EXPECT_EQ(converted(kDefault, "x=%0, approximate=\"none\""), "gelu(input=%0)");
}

TEST(GraphText, RefusesCallsThatCannotBeConverted) {
  const auto refused = [](const char* arguments, const std::string& says) {
    try {
      converted(kSmooth, arguments);
      ADD_FAILURE() << arguments << " is accepted";
    } catch (const Error& error) {
      EXPECT_NE(error.text().find(says), std::string::npos) << error.text();
    }
  };
  refused("fast=false, x=%0",
          "line 4 of the graph: the argument 'fast' exists no longer, and had another value than True");
  refused("input=%0", "there is no argument 'input'");
  refused("x=%0, approximate=\"none\"", "there is no argument 'approximate'");
  refused("x=%0, x=%0", "the argument is there twice");
  refused("fast=true", "missing argument input");
}

// Damaged texts either are errors or give graphs; nothing else happens. Sanitizers see the rest.
TEST(GraphText, DamagedTextsDoNoHarm) {
  const std::string text = whole_text();
  std::mt19937 random(1);
  const std::string marks = "%0123456789.,:()[]=\"!-+*/@ \nabcdefinstu\\\x7f\xc3";
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = text;
    for (unsigned change = 0; change <= random() % 3; ++change) {
      const size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0:
          damaged[at] = marks[random() % marks.size()];
          break;
        case 1:
          damaged.erase(at, 1 + random() % 8);
          break;
        case 2:
          damaged.insert(at, 1, marks[random() % marks.size()]);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 40));
      }
    }
    try {
      const Ref<Graph> graph = read(damaged);
      EXPECT_EQ(to_text(read(graph->description().text)->program()), graph->description().text);
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 0);
}

TEST(GraphText, SessionsRunWhatWasRead) {
  const Ref<Session> session = Session::create(read(whole_text()));
  const TensorRef x = Tensor::allocate(Shape{2, 12, 3}, OF_FLOAT32, kHost);
  const of_tensor input = to_handle(x.get());
  of_value outputs[2]{};
  session->run({&input, 1}, outputs, nullptr);
  EXPECT_EQ(to_text(to_tensor(outputs[0].as.tensor)->sizes()), "[2, 12, 2]");
  EXPECT_EQ(to_text(to_tensor(outputs[1].as.tensor)->sizes()), "[2, 17]");
  for (of_value& output : outputs) to_tensor(output.as.tensor)->release();
  const TensorRef wrong = Tensor::allocate(Shape{2, 13, 3}, OF_FLOAT32, kHost);
  const of_tensor wrong_input = to_handle(wrong.get());
  of_value unused[2]{};
  EXPECT_THROW(session->run({&wrong_input, 1}, unused, nullptr), Error);
}

}  // namespace
}  // namespace oneflow::graph
