// Loads the graph files of each release, which every later version must read, and compares what they compute.
#include <gtest/gtest.h>
#include <oneflow/files.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <oneflow/session.hpp>

namespace flow = oneflow;

namespace {

// Returns the tensors of a file whose names are "<what>.0", "<what>.1" and so on.
std::vector<flow::Tensor> numbered(const std::string& path, const std::string& what) {
  of_file file = nullptr;
  flow::check(of_file_open(path.c_str(), &file));
  std::vector<flow::Tensor> tensors;
  uint64_t position = 0;
  while (of_file_find(file, (what + "." + std::to_string(tensors.size())).c_str(), &position) == OF_OK) {
    of_read_options options{};
    options.struct_size = sizeof options;
    of_tensor tensor = nullptr;
    flow::check(of_file_read(file, &position, 1, &options, &tensor));
    tensors.emplace_back(tensor);
  }
  of_file_release(file);
  return tensors;
}

// Returns the elements of a tensor of any dtype: real and imaginary parts.
std::vector<double> elements(const flow::Tensor& tensor) {
  return flow::view_as_real(flow::cast(tensor, OF_COMPLEX128).contiguous()).to_vector<double>();
}

void expect_close(const flow::Tensor& found, const flow::Tensor& wanted, const std::string& where) {
  ASSERT_EQ(found.dtype(), wanted.dtype()) << where;
  ASSERT_TRUE(std::ranges::equal(found.sizes(), wanted.sizes())) << where;
  const bool is_half = wanted.dtype() == OF_FLOAT16 || wanted.dtype() == OF_BFLOAT16;
  const double tolerance = is_half ? 1e-2 : 1e-4;
  const std::vector<double> a = elements(found), b = elements(wanted);
  for (size_t i = 0; i < a.size(); ++i) {
    const bool is_same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    EXPECT_TRUE(is_same || std::abs(a[i] - b[i]) <= tolerance * (0.1 + std::abs(b[i])))
        << where << ", element " << i << ": " << a[i] << ", not " << b[i];
  }
}

TEST(Releases, TheirGraphsLoadAndGiveTheSame) {
  int graphs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GRAPH_FILES)) {
    std::filesystem::path path = entry.path();
    if (path.extension() != ".flow") continue;
    ++graphs;
    const flow::Session session(path.string());
    const std::string values = path.replace_extension(".safetensors").string();
    const flow::Generator generator(0);
    const std::vector<flow::Tensor> found = session.run(numbered(values, "input"), &generator);
    const std::vector<flow::Tensor> wanted = numbered(values, "output");
    ASSERT_GE(found.size(), wanted.size()) << path;  // states follow the outputs
    for (size_t i = 0; i < wanted.size(); ++i)
      expect_close(found[i], wanted[i], path.string() + ", output " + std::to_string(i));
  }
  EXPECT_GE(graphs, 20);
}

}  // namespace
