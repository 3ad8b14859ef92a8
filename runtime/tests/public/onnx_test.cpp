// ONNX models in C++, and what only programs in C can do wrong.
#include <gtest/gtest.h>

#include <oneflow/onnx.hpp>

namespace flow = oneflow;

namespace {

std::string path_of(const std::string& name) { return ONNX_FILES "/" + name + ".onnx"; }

template <class Call>
void expect_error(of_status status, const std::string& text, Call&& call) {
  try {
    call();
    FAIL() << "no error: " << text;
  } catch (const flow::Error& error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_EQ(error.what(), text);
  }
}

TEST(Onnx, LoadsAModel) {
  const flow::Graph graph = flow::load_onnx(path_of("layer"));
  EXPECT_STREQ(graph.value(OF_GRAPH_INPUT, 0).name, "x");
  EXPECT_STREQ(graph.value(OF_GRAPH_CONSTANT, 0).name, "weight");
  ASSERT_EQ(graph.info().size_count, 1u);
  EXPECT_STREQ(graph.info().sizes[0].name, "batch");
  const std::vector<flow::Tensor> outputs = flow::Session(graph).run({flow::ones({2, 3})});
  EXPECT_EQ(outputs[0].to_vector<float>(), (std::vector<float>{9.5f, 0, 9.5f, 0}));
}

TEST(Onnx, SizesCanBeFixedOrRanges) {
  EXPECT_EQ(flow::load_onnx(path_of("layer"), {.sizes = {{"batch", 4}}}).info().size_count, 0u);
  const flow::Graph graph = flow::load_onnx(path_of("layer"), {.sizes = {{"batch", {2, 8, 2}}}});
  ASSERT_EQ(graph.info().size_count, 1u);
  const of_named_size size = graph.info().sizes[0];
  EXPECT_EQ((std::vector{size.minimum, size.maximum, size.step}), (std::vector<int64_t>{2, 8, 2}));
  expect_error(OF_INVALID_ARGUMENT, "load: sizes: the model has no open size 'rows'; it has batch", [] {
    flow::load_onnx(path_of("layer"), {.sizes = {{"rows", 1}}});
  });
}

TEST(Onnx, SizesCanBeEqual) {
  const flow::Graph graph = flow::load_onnx(path_of("equal"), {.sizes = {{"m", "n"}, {"n", {2, 8}}}});
  ASSERT_EQ(graph.info().size_count, 2u);
  EXPECT_STREQ(graph.value(OF_GRAPH_INPUT, 1).size_texts[1], "n");
  EXPECT_STREQ(graph.info().note, "");
  const of_equal_sizes nothing{"m", nullptr};
  of_onnx_load_options options{};
  options.struct_size = sizeof options;
  options.equal_sizes = &nothing;
  options.equal_size_count = 1;
  of_graph refused = nullptr;
  EXPECT_EQ(of_onnx_load(path_of("equal").c_str(), &options, &refused), OF_INVALID_ARGUMENT);
  options.equal_sizes = nullptr;
  EXPECT_EQ(of_onnx_load(path_of("equal").c_str(), &options, &refused), OF_INVALID_ARGUMENT);
}

TEST(Onnx, ASizeThatIsFoundByTryingIsANote) {
  const char* const note =
      "the model does not work for all sizes, and was loaded with height = 32; `sizes` of load says which ones it "
      "should "
      "have";
  const flow::Graph graph = flow::load_onnx(path_of("of_height_32"));
  EXPECT_STREQ(graph.info().note, note);
  expect_error(OF_SHAPE_ERROR, std::string("run: dimension 1 of input 'x' must be 32, got shape [1, 64]; ") + note,
               [&] {
                 flow::Session(graph).run({flow::ones({1, 64})});
               });
}

TEST(Onnx, ValuesBecomeConstants) {
  const flow::Tensor shape = flow::tensor<int64_t>({3, 2});
  const flow::Session session(flow::load_onnx(path_of("reshape"), {.values = {{"shape", shape}}}));
  EXPECT_EQ(session.run({flow::ones({2, 3})})[0].size(0), 3);
}

TEST(Onnx, RefusesFiles) {
  expect_error(OF_FILE_ERROR, "load: cannot read '/nowhere.onnx': No such file or directory",
               [] { flow::load_onnx("/nowhere.onnx"); });
  expect_error(OF_INVALID_ARGUMENT,
               "load: the file is not an ONNX file, or is damaged: graphs are nested more than 32 deep",
               [] { flow::load_onnx(path_of("deep")); });
}

TEST(Onnx, RefusesSizesThatCannotBe) {
  of_onnx_load_options options{};
  options.struct_size = sizeof options;
  options.size_count = 1;
  of_graph graph = nullptr;
  EXPECT_EQ(of_onnx_load(path_of("layer").c_str(), &options, &graph), OF_INVALID_ARGUMENT);
  for (const of_named_size size : {of_named_size{"batch", -1, 5, 1},
                                   {"batch", 5, 4, 1},
                                   {"batch", 1, 5, 0},
                                   {"batch", 1, 5, -3},
                                   {"batch", 1, INT64_MAX, INT64_MAX},
                                   {"batch", 0, 0, 1},
                                   {"batch", INT64_MIN, INT64_MAX, 1},
                                   {nullptr, 1, 5, 1}}) {
    options.sizes = &size;
    of_graph_release(graph);
    graph = nullptr;
    const of_status status = of_onnx_load(path_of("layer").c_str(), &options, &graph);
    if (status) {
      EXPECT_EQ(status, OF_INVALID_ARGUMENT) << of_last_error();
    }
    EXPECT_EQ(graph != nullptr, status == OF_OK);
  }
  of_graph_release(graph);
  EXPECT_EQ(of_onnx_load(nullptr, nullptr, &graph), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_onnx_load(path_of("layer").c_str(), nullptr, nullptr), OF_INVALID_ARGUMENT);
}

}  // namespace
