// Tests the classes for streams and events, with the test accelerator.
#include <gtest/gtest.h>

#include <oneflow/oneflow.hpp>

namespace flow = oneflow;

namespace {

flow::Device accelerator() {
  static const flow::Device device = [] {
    flow::check(of_load_device(PLUGIN_DIR "/accel.so"));
    return flow::Device("accel:0");
  }();
  return device;
}

TEST(CppStreams, WorkGoesToTheCurrentStream) {
  const flow::Device device = accelerator();
  const flow::Tensor x = flow::tensor({1.0, 2.0}).to(device);
  const flow::Stream before = flow::Stream::current(device);
  flow::Event event(device);
  flow::Tensor y;
  {
    const flow::Stream stream(device);
    EXPECT_NE(stream.get().id, before.get().id);
    EXPECT_EQ(stream.device().name(), "accel:0");
    flow::check(of_set_option("accel_hold", 3));
    {
      const flow::CurrentStream current(stream);
      EXPECT_EQ(flow::Stream::current(device).get().id, stream.get().id);
      y = flow::neg(x);
    }
    EXPECT_EQ(flow::Stream::current(device).get().id, before.get().id);
    event.record(stream);
    before.wait(event);
    EXPECT_FALSE(stream.query());
    EXPECT_FALSE(event.query());
    flow::check(of_set_option("accel_hold", 0));
    event.synchronize();
    stream.synchronize();
  }
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{-1, -2}));
}

TEST(CppStreams, TimedEvents) {
  const flow::Device device = accelerator();
  flow::Event start(device, true), end(device, true);
  start.record(flow::Stream::current(device));
  flow::neg(flow::tensor({1.0}).to(device));
  end.record(flow::Stream::current(device));
  end.synchronize();
  EXPECT_GE(flow::Event::elapsed(start, end), 0);
}

TEST(CppStreams, ErrorsAreExceptions) {
  EXPECT_THROW(flow::Stream(flow::Device("cpu")), flow::Unsupported);
  EXPECT_THROW(flow::Event(flow::Device("cpu")), flow::Unsupported);
  flow::Stream moved(accelerator());
  const of_stream handle = moved.get();
  {
    const flow::Stream taken = std::move(moved);
    EXPECT_EQ(taken.get().id, handle.id);
  }
  EXPECT_EQ(of_stream_synchronize(handle), OF_INVALID_ARGUMENT);
}

}  // namespace
