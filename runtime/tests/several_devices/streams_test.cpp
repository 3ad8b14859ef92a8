// Tests streams and events with the test accelerator, which holds the work of some streams back: accel_hold is 1 for
// all streams, 2 for the default streams, 3 for the others.
#include <oneflow/oneflow.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "tests/several_devices/devices.h"

namespace oneflow {
namespace {

const OperatorName kPinMemory("pin_memory");
const OperatorName kToDevice("to_device");

void expect_ok(of_status status) { EXPECT_EQ(status, OF_OK) << of_last_error(); }
void expect_failure(of_status status, of_status expected, const std::string& text) {
  EXPECT_EQ(status, expected);
  EXPECT_EQ(of_last_error(), text);
}

of_stream create_stream(of_device device = accel()) {
  of_stream stream{};
  expect_ok(of_stream_create(device, &stream));
  return stream;
}
of_event create_event(of_device device = accel(), bool is_timed = false) {
  of_event event{};
  expect_ok(of_event_create(device, is_timed, &event));
  return event;
}
of_stream current(of_device device = accel()) {
  of_stream stream{};
  expect_ok(of_stream_current(device, &stream));
  return stream;
}
void choose(of_stream stream, of_device device = accel()) { expect_ok(of_stream_set_current(device, stream)); }
bool is_done(of_stream stream) {
  bool is_done = false;
  expect_ok(of_stream_query(stream, &is_done));
  return is_done;
}
bool is_done(of_event event) {
  bool is_done = false;
  expect_ok(of_event_query(event, &is_done));
  return is_done;
}

// Fills a new tensor asynchronously, byte by byte.
TensorRef filled(int64_t count, uint8_t byte, of_device device = accel()) {
  const TensorRef tensor = Tensor::allocate(Shape{count}, OF_FLOAT32, device);
  fill_bytes(device, tensor->mutable_data(), byte, static_cast<uint64_t>(tensor->bytes()));
  return tensor;
}
TensorRef twos(int64_t count, of_device device = accel()) {
  return make_tensor({count}, Values(static_cast<size_t>(count), 2), OF_FLOAT32, device);
}
bool all_are(const Tensor& tensor, double expected) {
  const Values found = values(tensor);
  return std::all_of(found.begin(), found.end(), [&](double each) { return each == expected; });
}

class StreamsTest : public AcceleratorTest {
 protected:
  void TearDown() override {
    for (int i = 0; i < 2; ++i) {
      choose({}, accel(i));
      EXPECT_LE(get_accel("streams", i), 1) << "a stream was not destroyed";
    }
    AcceleratorTest::TearDown();
  }
};

TEST_F(StreamsTest, EventsOrderStreams) {
  const TensorRef x = twos(3);
  const of_stream first = current(), other = create_stream();
  const of_event event = create_event();
  EXPECT_TRUE(is_done(event));
  set_accel("hold", 3);
  choose(other);
  EXPECT_EQ(current().id, other.id);
  const TensorRef y = mul(x, x);
  expect_ok(of_event_record(event, other));
  choose(first);
  EXPECT_TRUE(is_done(first));
  expect_ok(of_stream_wait_event(first, event));
  const TensorRef z = neg(y);
  EXPECT_FALSE(is_done(other));
  EXPECT_FALSE(is_done(first));
  EXPECT_FALSE(is_done(event));
  set_accel("hold", 0);
  EXPECT_EQ(values(*z), (Values{-4, -4, -4}));
  EXPECT_TRUE(is_done(event));
  expect_ok(of_event_synchronize(event));
  expect_ok(of_event_destroy(event));
  expect_ok(of_stream_destroy(other));
}

TEST_F(StreamsTest, StreamsDoNotWaitForEachOtherWithoutEvents) {
  const TensorRef x = twos(3);
  const of_stream other = create_stream();
  set_accel("hold", 3);
  choose(other);
  const TensorRef held = neg(x);
  choose({});
  EXPECT_EQ(values(*mul(x, x)), (Values{4, 4, 4}));  // while the other stream is held
  set_accel("hold", 0);
  expect_ok(of_stream_synchronize(other));
  EXPECT_EQ(values(*held), (Values{-2, -2, -2}));
  expect_ok(of_stream_destroy(other));
}

TEST_F(StreamsTest, EventsOrderStreamsOfSeveralDevices) {
  const of_stream here = current(accel(0)), there = current(accel(1));
  const of_event event = create_event(accel(0));
  neg(twos(1, accel(1)));
  expect_ok(of_synchronize(accel(1)));
  set_accel("hold", 1, 0);
  filled(3, 0);
  expect_ok(of_event_record(event, here));
  expect_ok(of_stream_wait_event(there, event));
  EXPECT_FALSE(is_done(there));
  set_accel("hold", 0, 0);
  expect_ok(of_stream_synchronize(there));
  EXPECT_TRUE(is_done(event));
  expect_ok(of_event_destroy(event));
}

// The work of the next owner of a block waits for the work of another stream that uses the block.
TEST_F(StreamsTest, ReuseWaitsForTheStreamsThatUseABlock) {
  for (const int64_t count : {int64_t{100}, int64_t{40000}}) {
    get_device(accel()).empty_cache();
    TensorRef x = twos(count);
    const of_stream first = current(), other = create_stream();
    set_accel("hold", 3);
    choose(other);
    const TensorRef y = neg(x);
    choose(first);
    const void* address = x->data();
    x = {};
    std::vector<TensorRef> later;  // of which one takes the block
    while (later.size() < 600 && (later.empty() || later.back()->data() != address)) later.push_back(filled(count, 0));
    EXPECT_EQ(later.back()->data(), address);
    EXPECT_FALSE(is_done(first));
    set_accel("hold", 0);
    expect_ok(of_stream_synchronize(first));
    EXPECT_TRUE(all_are(*y, -2));
    EXPECT_TRUE(all_are(*later.back(), 0));
    expect_ok(of_stream_destroy(other));
  }
}

// A block of another stream returns to that stream, also after the stream was destroyed.
TEST_F(StreamsTest, BlocksOutliveTheirStream) {
  const of_stream other = create_stream();
  choose(other);
  TensorRef x = twos(40000);
  choose({});
  const TensorRef y = neg(x);
  expect_ok(of_stream_destroy(other));
  EXPECT_TRUE(all_are(*x, 2));
  const void* address = x->data();
  set_accel("hold", 2);
  const TensorRef z = mul(x, x);
  x = {};
  const of_stream next = create_stream();
  choose(next);
  const TensorRef w = filled(40000, 0);
  EXPECT_EQ(w->data(), address);
  EXPECT_FALSE(is_done(next));
  set_accel("hold", 0);
  EXPECT_TRUE(all_are(*w, 0));
  choose({});
  EXPECT_TRUE(all_are(*y, -2));
  EXPECT_TRUE(all_are(*z, 4));
  expect_ok(of_stream_destroy(next));
}

TEST_F(StreamsTest, EmptyingTheCacheWaitsForBlocksInUse) {
  TensorRef x = twos(40000);
  const of_stream other = create_stream();
  choose(other);
  set_accel("hold", 3);
  const TensorRef y = neg(x);
  x = {};
  std::thread release([] { set_accel("hold", 0); });
  expect_ok(of_empty_cache(accel()));
  release.join();
  EXPECT_TRUE(all_are(*y, -2));
  choose({});
  expect_ok(of_stream_destroy(other));
}

TEST_F(StreamsTest, ForeignMemoryIsReleasedAfterAllStreamsThatUseIt) {
  static std::atomic<int> released;
  released = 0;
  const TensorRef owner = twos(3);
  const int64_t size = 3;
  of_tensor_source source{};
  source.dtype = OF_FLOAT32;
  source.device = accel();
  source.rank = 1;
  source.sizes = &size;
  source.data = const_cast<void*>(owner->data());
  source.bytes = 12;
  source.deleter = [](void*) { ++released; };
  TensorRef foreign = create_tensor(source);
  const of_stream other = create_stream();
  set_accel("hold", 3);
  choose(other);
  const TensorRef y = neg(foreign);
  foreign = {};
  choose({});
  EXPECT_EQ(released, 0);
  EXPECT_FALSE(is_done(current()));
  set_accel("hold", 0);
  expect_ok(of_stream_synchronize(current()));
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(all_are(*y, -2));
  expect_ok(of_stream_destroy(other));
}

TEST_F(StreamsTest, DestroyingAStreamFinishesItsWork) {
  const TensorRef x = twos(3);
  const of_stream other = create_stream();
  choose(other);
  set_accel("hold", 3);
  const TensorRef y = neg(x);
  choose({});
  std::thread release([] { set_accel("hold", 0); });
  expect_ok(of_stream_destroy(other));
  release.join();
  EXPECT_EQ(values(*y), (Values{-2, -2, -2}));
}

TEST_F(StreamsTest, DestroyedHandlesAreErrors) {
  const TensorRef x = twos(3);
  const of_stream other = create_stream();
  choose(other);
  expect_ok(of_stream_destroy(other));
  const std::string closed = ": stream must be an open stream, got one that was destroyed or never created";
  bool done = false;
  of_device device;
  expect_failure(of_stream_destroy(other), OF_INVALID_ARGUMENT, "of_stream_destroy" + closed);
  expect_failure(of_stream_synchronize(other), OF_INVALID_ARGUMENT, "of_stream_synchronize" + closed);
  expect_failure(of_stream_query(other, &done), OF_INVALID_ARGUMENT, "of_stream_query" + closed);
  expect_failure(of_stream_get_device(other, &device), OF_INVALID_ARGUMENT, "of_stream_get_device" + closed);
  expect_failure(of_stream_set_current(accel(), other), OF_INVALID_ARGUMENT, "of_stream_set_current" + closed);
  expect_failure(of_stream_synchronize({}), OF_INVALID_ARGUMENT, "of_stream_synchronize" + closed);
  // It still is the current stream of this thread.
  const std::string text = "this thread's current stream of accel:0 was destroyed; choose another one";
  EXPECT_EQ(failure_of([&] { neg(x); }), (Failure{OF_INVALID_ARGUMENT, "neg: " + text}));
  of_stream stream;
  expect_failure(of_stream_current(accel(), &stream), OF_INVALID_ARGUMENT, "of_stream_current: " + text);
  const of_stream next = create_stream();
  EXPECT_NE(next.id, other.id);
  EXPECT_EQ(failure_of([&] { neg(x); }).status, OF_INVALID_ARGUMENT);  // the new one is another stream
  choose({});
  EXPECT_EQ(values(*neg(x)), (Values{-2, -2, -2}));

  const of_event event = create_event();
  expect_ok(of_event_destroy(event));
  const std::string gone = ": event must be an event, got one that was destroyed or never created";
  expect_failure(of_event_destroy(event), OF_INVALID_ARGUMENT, "of_event_destroy" + gone);
  expect_failure(of_event_record(event, next), OF_INVALID_ARGUMENT, "of_event_record" + gone);
  expect_failure(of_event_query(event, &done), OF_INVALID_ARGUMENT, "of_event_query" + gone);
  expect_failure(of_event_synchronize(event), OF_INVALID_ARGUMENT, "of_event_synchronize" + gone);
  expect_failure(of_stream_wait_event(next, event), OF_INVALID_ARGUMENT, "of_stream_wait_event" + gone);
  expect_ok(of_stream_destroy(next));
}

TEST_F(StreamsTest, WrongHandlesAreErrors) {
  const of_stream first = current(), other = create_stream(accel(1));
  expect_failure(of_stream_destroy(first), OF_INVALID_ARGUMENT,
                 "of_stream_destroy: stream must not be the default stream of accel:0");
  expect_failure(of_stream_set_current(accel(0), other), OF_INVALID_ARGUMENT,
                 "of_stream_set_current: stream must be of accel:0, got one of accel:1");
  const of_event event = create_event();
  expect_failure(of_event_record(event, other), OF_INVALID_ARGUMENT,
                 "of_event_record: stream must be of accel:0, as the event is, got one of accel:1");
  expect_failure(of_stream_wait_event(current(far()), event), OF_INVALID_ARGUMENT,
                 "of_stream_wait_event: event must be of a device of the type of far:0, as the stream is, got one of "
                 "accel:0");
  double milliseconds = 0;
  expect_failure(of_event_elapsed(event, event, &milliseconds), OF_INVALID_ARGUMENT,
                 "of_event_elapsed: start must be an event that is timed");
  expect_ok(of_event_destroy(event));
  expect_ok(of_stream_destroy(other));
}

TEST_F(StreamsTest, SynchronousDevicesHaveOnlyTheirDefaultStream) {
  for (const of_device device : {cpu(), far()}) {
    const std::string name = device_name(device);
    of_stream stream{};
    of_event event{};
    expect_failure(of_stream_create(device, &stream), OF_UNSUPPORTED,
                   "of_stream_create: " + name + " has only its default stream, because it works synchronously");
    expect_failure(of_event_create(device, false, &event), OF_UNSUPPORTED,
                   "of_event_create: " + name + " has no events");
    choose(current(device), device);
    choose({}, device);
    expect_ok(of_stream_synchronize(current(device)));
    EXPECT_TRUE(is_done(current(device)));
  }
}

TEST_F(StreamsTest, ErrorsStayInTheirStream) {
  const TensorRef x = twos(3);
  const of_stream first = current(), other = create_stream();
  const std::string text = "neg: the kernel was told to find bad data";
  choose(other);
  set_accel("fail_kernels", 1, 0);
  neg(x);
  expect_ok(of_stream_synchronize(first));
  expect_failure(of_stream_synchronize(other), OF_INVALID_ARGUMENT, text);
  expect_ok(of_stream_synchronize(other));
  set_accel("fail_kernels", 1, 0);
  neg(x);
  expect_failure(of_synchronize(accel()), OF_INVALID_ARGUMENT, text);
  set_accel("fail_kernels", 1, 0);
  neg(x);
  choose({});
  expect_failure(of_stream_destroy(other), OF_INVALID_ARGUMENT, text);
  expect_ok(of_synchronize(accel()));
}

TEST_F(StreamsTest, TimedEvents) {
  const of_event start = create_event(accel(), true), end = create_event(accel(), true);
  double milliseconds = -1;
  expect_failure(of_event_elapsed(start, end, &milliseconds), OF_INVALID_ARGUMENT,
                 "of_event_elapsed: start must be recorded first");
  expect_ok(of_event_record(start, current()));
  filled(3, 0);
  set_accel("hold", 1);
  filled(3, 0);
  expect_ok(of_event_record(end, current()));
  expect_failure(of_event_elapsed(start, end, &milliseconds), OF_INVALID_ARGUMENT,
                 "of_event_elapsed: end must be done: synchronize with it first");
  set_accel("hold", 0);
  expect_ok(of_event_synchronize(end));
  expect_ok(of_event_elapsed(start, end, &milliseconds));
  EXPECT_GE(milliseconds, 0);
  expect_ok(of_event_destroy(start));
  expect_ok(of_event_destroy(end));
}

TEST_F(StreamsTest, ChosenStreamsTravelWithTheStateOfAThread) {
  const of_stream first = create_stream(accel(0)), second = create_stream(accel(1));
  choose(first, accel(0));
  choose(second, accel(1));
  of_thread_state state{};
  state.struct_size = sizeof(state);
  expect_ok(of_thread_get_state(&state));
  std::thread([&] {
    EXPECT_NE(current(accel(0)).id, first.id);
    expect_ok(of_thread_set_state(&state));
    EXPECT_EQ(current(accel(0)).id, first.id);
    EXPECT_EQ(current(accel(1)).id, second.id);
  }).join();
  choose({}, accel(0));
  EXPECT_EQ(current(accel(1)).id, second.id);
  choose({}, accel(1));
  expect_ok(of_stream_destroy(first));
  expect_failure(of_thread_set_state(&state), OF_INVALID_ARGUMENT,
                 "of_thread_set_state: streams[0] must be an open stream, got one that was destroyed");
  expect_ok(of_stream_destroy(second));
}

TEST_F(StreamsTest, EveryThreadHasItsOwnStream) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 4; ++round) {
        const of_stream own = create_stream(accel(t % 2));
        choose(own, accel(t % 2));
        TensorRef kept;
        for (int i = 0; i < 20; ++i) {
          const int64_t count = i % 3 == 0 ? 20000 : 50 + i;
          const double number = t * 100 + i;
          const TensorRef x =
              make_tensor({count}, Values(static_cast<size_t>(count), number), OF_FLOAT32, accel(t % 2));
          const TensorRef there = copy_to_device(*mul(x, x), accel(1 - t % 2));
          wrong += !all_are(*neg(there), -number * number);
          kept = neg(x);
        }
        wrong += !all_are(*neg(kept), t * 100 + 19);
        choose({}, accel(t % 2));
        expect_ok(of_stream_destroy(own));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(StreamsTest, ThreadsPassBlocksBetweenStreams) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  const TensorRef shared = twos(20000);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const of_stream own = create_stream();
      const of_event event = create_event();
      for (int i = 0; i < 40; ++i) {
        TensorRef x = mul(shared, shared);  // in the default stream
        expect_ok(of_event_record(event, current()));
        expect_ok(of_stream_wait_event(own, event));
        choose(own);
        const TensorRef y = neg(x);
        x = {};
        choose({});
        const TensorRef other = filled(20000, static_cast<uint8_t>(t));
        choose(own);
        wrong += !all_are(*y, -4);
        choose({});
      }
      expect_ok(of_event_destroy(event));
      expect_ok(of_stream_destroy(own));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// -- page-locked memory

TEST_F(StreamsTest, CopiesOfPageLockedMemoryDoNotWait) {
  const TensorRef pinned = call_operator(kPinMemory, twos(3, cpu()));
  const TensorRef target = call_operator(kPinMemory, twos(3, cpu()));
  set_accel("hold", 1);
  const TensorRef there = call_operator(kToDevice, pinned, accel());
  const TensorRef y = mul(there, there);
  copy_contiguous(*target, *y);
  copy_contiguous(*target, *neg(y));
  set_accel("hold", 0);
  EXPECT_EQ(values(*target), (Values{-4, -4, -4}));
  EXPECT_EQ(values(*there), (Values{2, 2, 2}));
}

// The host waits before it writes what a copy reads.
TEST_F(StreamsTest, TheHostWaitsForCopiesOfPageLockedMemory) {
  const TensorRef pinned = call_operator(kPinMemory, twos(3, cpu()));
  set_accel("hold", 1);
  const TensorRef there = call_operator(kToDevice, pinned, accel());
  EXPECT_EQ(of_tensor_work(to_handle(pinned.get())), INT64_MAX);  // so that front ends release their locks
  std::thread release([] { set_accel("hold", 0); });
  fill_bytes(cpu(), pinned->mutable_data(), 0, 12);
  release.join();
  EXPECT_EQ(values(*there), (Values{2, 2, 2}));
  EXPECT_EQ(values(*pinned), (Values{0, 0, 0}));
  EXPECT_EQ(of_tensor_work(to_handle(pinned.get())), 3);
}

TEST_F(StreamsTest, ReadingPageLockedMemoryReportsTheErrorsOfTheWorkBefore) {
  const TensorRef target = call_operator(kPinMemory, twos(3, cpu()));
  const TensorRef x = twos(3);
  set_accel("fail_kernels", 1, 0);
  copy_contiguous(*target, *neg(x));
  const Failure bad{OF_INVALID_ARGUMENT, "neg: the kernel was told to find bad data"};
  EXPECT_EQ(failure_of([&] { values(*target); }), bad);
  values(*target);
}

TEST_F(StreamsTest, FreedPageLockedMemoryIsReusedAfterItsCopies) {
  TensorRef pinned = call_operator(kPinMemory, twos(40000, cpu()));
  const void* address = pinned->data();
  set_accel("hold", 1);
  const TensorRef there = call_operator(kToDevice, pinned, accel(1));
  pinned = {};
  TensorRef next = call_operator(kPinMemory, make_tensor({40000}, Values(40000, 7)));
  EXPECT_NE(next->data(), address);
  set_accel("hold", 0);
  EXPECT_TRUE(all_are(*there, 2));
  const TensorRef last = call_operator(kPinMemory, twos(40000, cpu()));
  EXPECT_EQ(last->data(), address);
  EXPECT_TRUE(all_are(*next, 7));
}

// Code outside the runtime accesses the memory without waiting, so that copies wait.
TEST_F(StreamsTest, CopiesOfExposedMemoryWait) {
  const TensorRef pinned = call_operator(kPinMemory, twos(3, cpu()));
  const void* address = nullptr;
  expect_ok(of_tensor_data(to_handle(pinned.get()), &address));
  copy_contiguous(*pinned, *filled(3, 0));
  EXPECT_EQ(*static_cast<const float*>(address), 0);
}

TEST_F(StreamsTest, ALostDeviceClosesItsStreams) {
  in_its_own_process([] {
    const TensorRef x = twos(3);
    const of_stream other = create_stream();
    const of_event event = create_event();
    choose(other);
    TensorRef y = neg(x);
    lose_at_next_task(0);
    neg(x);
    EXPECT_EQ(of_stream_synchronize(other), OF_DEVICE_ERROR);
    y = {};
    const std::string text = "accel:0 is lost: it was told to die";
    expect_failure(of_stream_synchronize(other), OF_DEVICE_ERROR, "of_stream_synchronize: " + text);
    expect_failure(of_event_record(event, other), OF_DEVICE_ERROR, "of_event_record: " + text);
    of_stream stream;
    expect_failure(of_stream_create(accel(), &stream), OF_DEVICE_ERROR, "of_stream_create: " + text);
    expect_failure(of_stream_destroy(other), OF_DEVICE_ERROR, "of_stream_destroy: " + text);
    expect_failure(of_stream_synchronize(other), OF_INVALID_ARGUMENT,
                   "of_stream_synchronize: stream must be an open stream, got one that was destroyed or never created");
    expect_ok(of_event_destroy(event));
  });
}

}  // namespace
}  // namespace oneflow
