// The calls of graphs, and graphs of the calls in bodies, in the C API.
#include <gtest/gtest.h>

#include <filesystem>
#include <oneflow/oneflow.hpp>
#include <oneflow/onnx.hpp>

namespace flow = oneflow;

namespace {

of_graph_call call_of(const flow::Graph& graph, uint64_t position) {
  of_graph_call call{};
  call.struct_size = sizeof call;
  flow::check(of_graph_call_at(graph.get(), position, &call));
  return call;
}

std::string name_of(const of_graph_call& call) {
  of_op_info info{};
  info.struct_size = sizeof info;
  flow::check(of_op_get_info(call.op, &info));
  return info.name;
}

// A graph of softmax(x[:, :columns / 2], -1) whose columns vary.
flow::Graph example() {
  const of_named_size size{"columns", 2, INT64_MAX, 1};
  const of_named_dimension dimension{0, 1, 0};
  of_capture_options options{};
  options.struct_size = sizeof options;
  options.sizes = &size;
  options.size_count = 1;
  options.dimensions = &dimension;
  options.dimension_count = 1;
  return flow::capture(
      {flow::ones({2, 8})},
      [](const std::vector<flow::Tensor>& inputs) {
        const int64_t half = inputs[0].size(1) / 2;
        return std::vector{flow::softmax(flow::slice(inputs[0], 1, 0, half), -1)};
      },
      &options);
}

TEST(GraphCalls, HaveArgumentsAndResults) {
  const flow::Graph graph = example();
  ASSERT_EQ(graph.info().call_count, 2u);
  const of_graph_call slice = call_of(graph, 0);
  EXPECT_EQ(name_of(slice), "slice");
  ASSERT_EQ(slice.argument_count, 5);
  EXPECT_EQ(slice.arguments[0].kind, OF_VALUE_TENSOR);
  EXPECT_EQ(slice.arguments[0].as.values[0], graph.value(OF_GRAPH_INPUT, 0).id);
  EXPECT_FALSE(slice.writes);
  const of_graph_integer& end = slice.arguments[3].as.integers[0];
  ASSERT_EQ(end.term_count, 1u);
  EXPECT_EQ(end.divisor, 2);
  ASSERT_EQ(end.terms[0].atom_count, 1u);
  EXPECT_EQ(end.terms[0].atoms[0].value, -1);
  EXPECT_EQ(end.terms[0].atoms[0].number, 0);
  of_graph_value value{};
  value.struct_size = sizeof value;
  flow::check(of_graph_value_by_id(graph.get(), slice.results[0], &value));
  EXPECT_STREQ(value.size_texts[1], "columns/2");
  EXPECT_STREQ(value.name, "");
  EXPECT_EQ(value.integers[0].constant, 2);
}

TEST(GraphCalls, HaveTextsOfArgumentsAndSayWhatTheyWrite) {
  const flow::Graph graph = example();
  const of_graph_call slice = call_of(graph, 0);
  EXPECT_EQ(slice.written_count, 0u);
  EXPECT_STREQ(slice.argument_texts[0], "%0");
  EXPECT_STREQ(slice.argument_texts[1], "1");
  EXPECT_STREQ(slice.argument_texts[3], "columns/2");
  EXPECT_EQ(slice.argument_texts[4], nullptr);  // the step, which is the default

  const flow::Graph writes = flow::capture({flow::ones({2})}, [](const std::vector<flow::Tensor>& inputs) {
    flow::Tensor doubled = inputs[0] * 2;
    const of_value argument{OF_VALUE_TENSOR, 0, {.tensor = doubled.get()}};
    of_value result{};
    flow::check(of_call(of_op_find("zero_"), &argument, 1, &result, 1));
    of_value_release(&result);
    return std::vector{doubled};
  });
  const of_graph_call multiplied = call_of(writes, 0), zeroed = call_of(writes, 1);
  EXPECT_FALSE(zeroed.gives_results);
  ASSERT_EQ(zeroed.written_count, 1u);
  EXPECT_EQ(zeroed.written[0], multiplied.results[0]);
}

TEST(GraphCalls, AreChecked) {
  const flow::Graph graph = example();
  of_graph_call call{};
  call.struct_size = sizeof call;
  EXPECT_EQ(of_graph_call_at(graph.get(), 2, &call), OF_INDEX_OUT_OF_RANGE);
  of_graph_value value{};
  value.struct_size = sizeof value;
  EXPECT_EQ(of_graph_value_by_id(graph.get(), -1, &value), OF_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(of_graph_value_by_id(graph.get(), 100, &value), OF_INDEX_OUT_OF_RANGE);
  of_graph result = nullptr;
  const of_op none = nullptr;
  EXPECT_EQ(of_graph_expand(graph.get(), &none, 1, &result), OF_INVALID_ARGUMENT);
}

TEST(GraphCalls, ResultsMayShareTheMemoryOfArguments) {
  const auto aliases = [](const char* name) {
    of_op_info info{};
    info.struct_size = sizeof info;
    flow::check(of_op_get_info(of_op_find(name), &info));
    return std::vector(info.result_aliases, info.result_aliases + info.result_count);
  };
  EXPECT_EQ(aliases("slice"), std::vector{0});        // (Tensor(a) input, ...) -> Tensor(a)
  EXPECT_EQ(aliases("unbind"), std::vector{0});       // (Tensor(a) input, ...) -> Tensor(a)[]
  EXPECT_EQ(aliases("add"), std::vector{-1});         // (Tensor input, ...) -> Tensor
  EXPECT_EQ(aliases("topk"), (std::vector{-1, -1}));  // (Tensor input, ...) -> (Tensor values, Tensor indices)
}

TEST(GraphCalls, OfBodiesReplaceComposites) {
  const flow::Graph graph = example();
  of_graph expanded = nullptr;
  flow::check(of_graph_expand(graph.get(), nullptr, 0, &expanded));
  const flow::Graph bodies(expanded);
  EXPECT_GT(bodies.info().call_count, 2u);
  for (uint64_t i = 0; i < bodies.info().call_count; ++i) EXPECT_NE(name_of(call_of(bodies, i)), "softmax");
  const flow::Tensor x = flow::randn({2, 6});
  EXPECT_TRUE(
      flow::all(flow::isclose(flow::Session(graph).run({x})[0], flow::Session(bodies).run({x})[0])).item<bool>());
  const of_op softmax = of_op_find("softmax");
  flow::check(of_graph_expand(graph.get(), &softmax, 1, &expanded));
  EXPECT_EQ(flow::Graph(expanded).info().call_count, 2u);
}

TEST(GraphCalls, AreSavedAsOnnx) {
  const std::string path = std::filesystem::temp_directory_path() / "oneflow_graph_calls.onnx";
  const flow::Graph graph = example();
  flow::save_onnx(graph, path, {.opset = 13});
  const flow::Tensor x = flow::randn({2, 6});
  const flow::Graph loaded = flow::load_onnx(path, {.sizes = {{"columns", {2, INT64_MAX}}}});
  EXPECT_TRUE(flow::Session(loaded).run({x})[0].equals(flow::Session(graph).run({x})[0]));
  std::filesystem::remove(path);
  EXPECT_THROW(flow::save_onnx(graph, path, {.opset = 10}), flow::InvalidArgument);
}

}  // namespace
