// Tests the matcher and the editor of passes, on programs that are written as texts.
#include <gtest/gtest.h>

#include "base/error.h"
#include "dispatch/dispatch.h"
#include "graph/graph.h"
#include "graph/passes/matcher.h"
#include "graph/passes/optimize.h"
#include "graph/program/text.h"

namespace oneflow::graph {
namespace {

// Returns a program of these operators, calls and outputs, with the input %0 of float32[batch, 3].
Program program_of(std::initializer_list<const char*> operators, const std::string& calls) {
  std::string text = "graph 1\nsize batch = 4 in 1..64\n";
  for (const char* name : operators) {
    const Operator* op = find_operator(name);
    text += std::string("operator ") + name + ": " + op->schema().signature + "\n";
  }
  Program program = parse(text + "input %0 \"x\": float32[batch, 3]\n" + calls);
  return Graph::create(std::move(program))->program();
}

constexpr PatternArgument kSigmoid[] = {{.variable = 0}};
constexpr PatternArgument kProduct[] = {{.variable = 0}, {.call = 0}};
constexpr PatternCall kSilu[] = {{"sigmoid", kSigmoid}, {"mul", kProduct}};
constexpr oneflow::Argument kVariables[] = {{.name = "x", .type_text = "Tensor", .type = ArgumentType::kTensor}};

std::optional<Match> find_silu(const Program& program, int position) {
  return Pattern(kSilu, kVariables, 0, true).find(Editor(program), position);
}

TEST(Matcher, FindsOperandsInBothOrders) {
  for (const char* operands : {"input=%1, other=%0", "input=%0, other=%1"}) {
    const Program program =
        program_of({"mul", "sigmoid"}, std::string("%1: float32[batch, 3] = sigmoid(input=%0)\n") +
                                           "%2: float32[batch, 3] = mul(" + operands + ")\noutput %2 \"y\"");
    const std::optional<Match> match = find_silu(program, 1);
    ASSERT_TRUE(match);
    EXPECT_EQ(match->calls, (std::vector<int>{0, 1}));
    EXPECT_EQ(match->variables[0].values, (std::vector<ValueId>{0}));
    EXPECT_FALSE(find_silu(program, 0));
  }
}

TEST(Matcher, NeedsTheSameValueForAVariable) {
  const Program program = program_of({"exp", "mul", "sigmoid"},
                                     "%1: float32[batch, 3] = sigmoid(input=%0)\n"
                                     "%2: float32[batch, 3] = exp(input=%0)\n"
                                     "%3: float32[batch, 3] = mul(input=%2, other=%1)\noutput %3 \"y\"");
  EXPECT_FALSE(find_silu(program, 2));
}

TEST(Matcher, LeavesValuesThatOthersNeed) {
  const Program program = program_of({"mul", "sigmoid"},
                                     "%1: float32[batch, 3] = sigmoid(input=%0)\n"
                                     "%2: float32[batch, 3] = mul(input=%0, other=%1)\n"
                                     "output %2 \"y\"\noutput %1 \"z\"");
  EXPECT_FALSE(find_silu(program, 1));
}

TEST(Matcher, LeavesMemoryThatIsWritten) {
  const Program program = program_of({"add", "clone", "mul", "sigmoid"},
                                     "%1: float32[batch, 3] = clone(input=%0)\n"
                                     "%2: float32[batch, 3] = sigmoid(input=%1)\n"
                                     "%1! = add(input=%1, other=1.0)\n"
                                     "%3: float32[batch, 3] = mul(input=%1, other=%2)\noutput %3 \"y\"");
  EXPECT_FALSE(find_silu(program, 3));
}

TEST(Editor, RefusesOtherShapes) {
  const Program program = program_of({"exp"}, "%1: float32[batch, 3] = exp(input=%0)\noutput %1 \"y\"");
  static constinit const OperatorName sum("sum"), neg("neg");
  Editor editor(program);
  const std::vector<Argument> bindings = program.nodes[0].arguments;
  const auto build = [](const OperatorName& name) {
    return [&name](std::span<const of_value> arguments) {
      return std::vector<TensorRef>{call_operator(name, arguments[0])};
    };
  };
  EXPECT_FALSE(editor.replace(0, bindings, {}, build(sum)));
  EXPECT_TRUE(editor.replace(0, bindings, {}, build(neg)));
  EXPECT_STREQ(editor.node(editor.first()).op->schema().name, "neg");
  EXPECT_EQ(to_text(Graph::create(editor.finished())->program()).find("exp"), std::string::npos);
}

TEST(Editor, FailuresOfTheRightSideChangeNothing) {
  const Program program = program_of({"exp"}, "%1: float32[batch, 3] = exp(input=%0)\noutput %1 \"y\"");
  Editor editor(program);
  const auto fails = [](std::span<const of_value>) -> std::vector<TensorRef> { fail(OF_SHAPE_ERROR, "no"); };
  EXPECT_FALSE(editor.replace(0, program.nodes[0].arguments, {}, fails));
  const auto lacks = [](std::span<const of_value>) -> std::vector<TensorRef> { fail(OF_OUT_OF_MEMORY, "no"); };
  EXPECT_THROW(editor.replace(0, program.nodes[0].arguments, {}, lacks), Error);
  EXPECT_EQ(to_text(editor.finished()), to_text(program));
}

}  // namespace
}  // namespace oneflow::graph
