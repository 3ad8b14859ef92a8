// Tests files of tensors through the C API: wrong arguments, and malformed nodes.
#include <gtest/gtest.h>
#include <oneflow/files.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

// A folder that is removed with the object.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/oneflow-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A tensor of the floats 0, 1, 2, ….
class Floats {
 public:
  explicit Floats(int64_t count) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
    of_tensor_source source{};
    source.struct_size = sizeof(source);
    source.dtype = OF_FLOAT32;
    source.rank = 1;
    source.sizes = &count;
    source.data = values.data();
    source.bytes = values.size() * sizeof(float);
    EXPECT_EQ(of_tensor_create(&source, &tensor_), OF_OK) << of_last_error();
  }
  ~Floats() { of_tensor_release(tensor_); }
  of_tensor get() const { return tensor_; }

 private:
  of_tensor tensor_ = nullptr;
};

of_file_node container(of_file_node_kind kind, uint32_t count, const char* key = nullptr) {
  return {kind, count, key, {}};
}

of_file_node leaf(of_tensor tensor, const char* key = nullptr) {
  of_file_node node{OF_NODE_TENSOR, 0, key, {}};
  node.as.tensor = tensor;
  return node;
}

of_status save(const std::string& path, const std::vector<of_file_node>& nodes) {
  return of_file_save(path.c_str(), nodes.data(), nodes.size(), nullptr);
}

class FilesTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, FilesTest, testing::Values("a.safetensors", "a.npz"));

TEST_P(FilesTest, NodesComeBackAsTheyWere) {
  const Folder folder;
  const Floats x(3);
  const std::string path = folder.file(GetParam());
  const std::vector<of_file_node> nodes = {container(OF_NODE_DICTIONARY, 3),   leaf(x.get(), "x.y"),
                                           container(OF_NODE_LIST, 2, "list"), leaf(x.get()),
                                           container(OF_NODE_DICTIONARY, 0),   leaf(x.get(), "")};
  ASSERT_EQ(save(path, nodes), OF_OK) << of_last_error();
  of_file file = nullptr;
  ASSERT_EQ(of_file_open(path.c_str(), &file), OF_OK) << of_last_error();
  EXPECT_EQ(of_file_count(file), 3u);
  const of_file_node* found = nullptr;
  uint64_t count = 0;
  ASSERT_EQ(of_file_get_nodes(file, false, &found, &count), OF_OK) << of_last_error();
  ASSERT_EQ(count, nodes.size());
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(found[i].kind, nodes[i].kind);
    EXPECT_EQ(found[i].count, nodes[i].count);
    EXPECT_EQ(std::string(found[i].key ? found[i].key : "none"), nodes[i].key ? nodes[i].key : "none");
  }

  uint64_t position = 0;
  ASSERT_EQ(of_file_find(file, "list.0", &position), OF_OK) << of_last_error();
  of_file_entry entry{};
  entry.struct_size = sizeof(entry);
  ASSERT_EQ(of_file_entry_at(file, position, &entry), OF_OK);
  EXPECT_EQ(std::string(entry.name), "list.0");
  EXPECT_EQ(entry.bytes, 12u);
  of_read_options options{};
  options.struct_size = sizeof(options);
  for (const bool share : {false, true}) {
    options.share = share;
    of_tensor tensor = nullptr;
    ASSERT_EQ(of_file_read(file, &position, 1, &options, &tensor), OF_OK) << of_last_error();
    bool equal = false;
    EXPECT_EQ(of_tensor_equal(tensor, x.get(), &equal), OF_OK);
    EXPECT_TRUE(equal);
    of_tensor_release(tensor);
  }
  of_file_release(file);
}

TEST_P(FilesTest, ManyThreadsReadOneFile) {
  const Folder folder;
  const Floats x(1000);
  const std::string path = folder.file(GetParam());
  ASSERT_EQ(save(path, {leaf(x.get())}), OF_OK) << of_last_error();
  of_file file = nullptr;
  ASSERT_EQ(of_file_open(path.c_str(), &file), OF_OK) << of_last_error();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, own = of_file_retain(file)] {
      of_read_options options{};
      options.struct_size = sizeof(options);
      const uint64_t position = 0;
      for (int round = 0; round < 50; ++round) {
        of_tensor tensor = nullptr;
        ASSERT_EQ(of_file_read(own, &position, 1, &options, &tensor), OF_OK) << of_last_error();
        bool equal = false;
        EXPECT_EQ(of_tensor_equal(tensor, x.get(), &equal), OF_OK);
        EXPECT_TRUE(equal);
        of_tensor_release(tensor);
      }
      of_file_release(own);
    });
  }
  of_file_release(file);
  for (std::thread& thread : threads) thread.join();
}

TEST(Files, MalformedNodesAreErrors) {
  const Folder folder;
  const Floats x(1);
  const std::string path = folder.file("a.npz");
  const auto expect = [&](const std::vector<of_file_node>& nodes, const char* text) {
    EXPECT_EQ(save(path, nodes), OF_INVALID_ARGUMENT);
    EXPECT_STREQ(of_last_error(), text);
  };
  expect({}, "save: there are no nodes");
  expect({container(OF_NODE_LIST, 1)}, "save: a dictionary or list has fewer items than it says");
  expect({container(OF_NODE_LIST, 0), leaf(x.get())}, "save: 1 nodes are not below the first one");
  expect({container(OF_NODE_DICTIONARY, 1), leaf(x.get())}, "save: an item of a dictionary has no key");
  expect({container(OF_NODE_DICTIONARY, 2), leaf(x.get(), "a"), leaf(x.get(), "a")}, "save: the key 'a' occurs twice");
  expect({container(OF_NODE_DICTIONARY, 1), leaf(x.get(), "\xff")},
         "save: a key must be UTF-8 without null bytes, got '\\xff'");
  expect({leaf(nullptr)}, "save: a tensor must not be NULL");
  expect({container(static_cast<of_file_node_kind>(7), 0)}, "save: there is no kind 7 of nodes");
  expect(std::vector<of_file_node>(1000, container(OF_NODE_LIST, 1)),
         "save: dictionaries and lists must not be nested more than 64 deep");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Files, NullArgumentsAreErrors) {
  const Folder folder;
  const Floats x(1);
  const std::string path = folder.file("a.npy");
  const of_file_node node = leaf(x.get());
  ASSERT_EQ(of_file_save(path.c_str(), &node, 1, nullptr), OF_OK) << of_last_error();
  of_file file = nullptr;
  ASSERT_EQ(of_file_open(path.c_str(), &file), OF_OK) << of_last_error();
  of_file_entry entry{};
  const of_file_metadata* metadata = nullptr;
  const of_file_node* nodes = nullptr;
  of_save_options options{};
  of_tensor tensor = nullptr;
  uint64_t number = 0;
  of_read_options reading{};
  reading.struct_size = sizeof(reading);
  EXPECT_EQ(of_file_save(nullptr, &node, 1, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_save(path.c_str(), nullptr, 1, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_save(path.c_str(), &node, 1, &options), OF_INVALID_ARGUMENT);  // without struct_size
  options.struct_size = sizeof(options);
  options.metadata_count = 1;
  EXPECT_EQ(of_file_save(path.c_str(), &node, 1, &options), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_open(nullptr, &file), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_open(path.c_str(), nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_entry_at(file, 0, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_entry_at(file, 0, &entry), OF_INVALID_ARGUMENT);  // without struct_size
  entry.struct_size = sizeof(entry);
  EXPECT_EQ(of_file_entry_at(file, 1, &entry), OF_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(of_file_entry_at(nullptr, 0, &entry), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_find(file, nullptr, &number), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_find(file, "x", &number), OF_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(of_file_get_metadata(nullptr, &metadata, &number), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_get_nodes(file, false, nullptr, &number), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_get_nodes(file, false, &nodes, nullptr), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_read(file, nullptr, 1, &reading, &tensor), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_read(file, &number, 1, nullptr, &tensor), OF_INVALID_ARGUMENT);
  EXPECT_EQ(of_file_read(file, &number, 1, &reading, nullptr), OF_INVALID_ARGUMENT);
  number = 1;
  EXPECT_EQ(of_file_read(file, &number, 1, &reading, &tensor), OF_INDEX_OUT_OF_RANGE);
  reading.device = {-1, -1};
  number = 0;
  EXPECT_EQ(of_file_read(file, &number, 1, &reading, &tensor), OF_DEVICE_ERROR);
  EXPECT_EQ(tensor, nullptr);
  EXPECT_EQ(of_file_count(nullptr), 0u);
  EXPECT_EQ(of_file_retain(nullptr), nullptr);
  of_file_release(nullptr);
  of_file_release(file);
}

}  // namespace
