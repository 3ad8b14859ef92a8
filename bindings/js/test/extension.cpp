// What extensions.test.mjs calls: every form in which functions of extensions take and return values.
#include <oneflow/napi.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace {

namespace flow = oneflow;

std::atomic<int64_t> released_count{0};

flow::Tensor same(const flow::Tensor& input) { return input; }
flow::Tensor moved(flow::Tensor input) { return input; }
void add(flow::Tensor& input, double by) { input.add_(by); }
flow::Tensor empty() { return {}; }
flow::Device device(const flow::Device& device) { return device; }
flow::DType dtype(flow::DType dtype) { return dtype; }
flow::Generator generator(const flow::Generator& generator) { return generator; }
flow::Generator new_generator(int64_t seed) { return flow::Generator(static_cast<uint64_t>(seed)); }
flow::Generator default_generator() { return flow::default_generator(); }
std::optional<flow::Tensor> optional(const std::optional<flow::Tensor>& input) { return input; }
std::vector<flow::Tensor> reversed(std::vector<flow::Tensor> tensors) {
  std::reverse(tensors.begin(), tensors.end());
  return tensors;
}
int64_t integer(int64_t value) { return value; }
bool boolean(bool value) noexcept { return value; }
std::string string(const std::string& value) { return value; }

flow::Tensor foreign(int64_t count) {
  auto* memory = new float[static_cast<size_t>(count)]();
  return flow::Tensor::share(flow::float32, memory, sizeof(float) * static_cast<uint64_t>(count), {count}, [memory] {
    delete[] memory;
    ++released_count;
  });
}
int64_t released() { return released_count; }

void release_elsewhere(flow::Tensor input) {
  std::thread([moved = std::move(input)]() mutable { moved = flow::Tensor(); }).join();
}

void fail(int64_t status) {
  if (status == -1) throw std::runtime_error("of C++");
  if (status == -2) throw std::bad_alloc();
  if (status < 0) throw status;
  flow::check(of_fail(static_cast<of_status>(status), "fail: on purpose"));
}

flow::Tensor call(Napi::Function function, const flow::Tensor& input) {
  return flow::node::from_value<flow::Tensor>(function.Call({flow::node::to_value(function.Env(), input)}), "call",
                                              "the result");
}

void accept_older() {
  of_extension_api older{};
  older.struct_size = sizeof(older) - sizeof(void*);
  flow::extension::accept(&older, "oneflow-js");
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  flow::node::initialize(env);
  using flow::node::define;
  define<same>(exports, "same", {"input"});
  define<moved>(exports, "moved", {"input"});
  define<add>(exports, "add", {"input", "by"});
  define<empty>(exports, "empty", {});
  define<device>(exports, "device", {"device"});
  define<dtype>(exports, "dtype", {"dtype"});
  define<generator>(exports, "generator", {"generator"});
  define<new_generator>(exports, "newGenerator", {"seed"});
  define<default_generator>(exports, "defaultGenerator", {});
  define<optional>(exports, "optional", {"input"});
  define<reversed>(exports, "reversed", {"tensors"});
  define<integer>(exports, "integer", {"value"});
  define<boolean>(exports, "boolean", {"value"});
  define<string>(exports, "string", {"value"});
  define<foreign>(exports, "foreign", {"count"});
  define<released>(exports, "released", {});
  define<release_elsewhere>(exports, "releaseElsewhere", {"input"});
  define<fail>(exports, "fail", {"status"});
  define<call>(exports, "call", {"function", "input"});
  define<accept_older>(exports, "acceptOlder", {});
  define<[](const flow::Tensor& input) { return input * 2; }>(exports, "twice", {"input"});
  return exports;
}

}  // namespace

NODE_API_MODULE(extension, initialize)
