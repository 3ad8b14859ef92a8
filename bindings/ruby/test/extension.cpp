// What extensions_test.rb calls: every form in which functions of extensions take and return values.
#include <oneflow/ruby.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace {

namespace flow = oneflow;

std::atomic<int64_t> released_count{0};
std::atomic<int64_t> guards{0};

// Counts the objects that have not been destroyed.
struct Guard {
  Guard() { ++guards; }
  Guard(const Guard&) = delete;
  ~Guard() { --guards; }
};

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
int64_t live_guards() { return guards; }

void release_elsewhere(flow::Tensor input) {
  std::thread([moved = std::move(input)]() mutable { moved = flow::Tensor(); }).join();
}

void fail(int64_t status) {
  const Guard guard;
  if (status == -1) throw std::runtime_error("of C++");
  if (status == -2) throw std::bad_alloc();
  if (status < 0) throw status;
  flow::check(of_fail(static_cast<of_status>(status), "fail: on purpose"));
}

flow::Tensor call(VALUE function, const flow::Tensor& input) {
  const Guard guard;
  const VALUE argument = flow::ruby::to_value(input);
  const VALUE result = flow::ruby::protect([=] { return rb_funcall(function, rb_intern("call"), 1, argument); });
  return flow::ruby::from_value<flow::Tensor>(result, "call", "the result");
}

void accept_older() {
  of_extension_api older{};
  older.struct_size = sizeof(older) - sizeof(void*);
  flow::extension::accept(&older, "oneflow-rb");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void Init_extension() {
  rb_ext_ractor_safe(true);
  flow::ruby::initialize();
  using flow::ruby::define;
  const VALUE module = rb_define_module("Extension");
  define<same>(module, "same", {"input"});
  define<moved>(module, "moved", {"input"});
  define<add>(module, "add", {"input", "by"});
  define<empty>(module, "empty", {});
  define<device>(module, "device", {"device"});
  define<dtype>(module, "dtype", {"dtype"});
  define<generator>(module, "generator", {"generator"});
  define<new_generator>(module, "new_generator", {"seed"});
  define<default_generator>(module, "default_generator", {});
  define<optional>(module, "optional", {"input"});
  define<reversed>(module, "reversed", {"tensors"});
  define<integer>(module, "integer", {"value"});
  define<boolean>(module, "boolean", {"value"});
  define<string>(module, "string", {"value"});
  define<foreign>(module, "foreign", {"count"});
  define<released>(module, "released", {});
  define<live_guards>(module, "live_guards", {});
  define<release_elsewhere>(module, "release_elsewhere", {"input"});
  define<fail>(module, "fail", {"status"});
  define<call>(module, "call", {"function", "input"});
  define<accept_older>(module, "accept_older", {});
  define<[](const flow::Tensor& input) { return input * 2; }>(module, "twice", {"input"});
}
