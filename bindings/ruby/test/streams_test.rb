# frozen_string_literal: true

require_relative "helper"

# Tests streams and events as objects.
class StreamsTest < OneFlowTest
  DEVICE = "accel:0" # a test device that works asynchronously

  def test_a_block_chooses_a_stream
    stream = OneFlow::Stream.new(DEVICE)
    before = OneFlow.current_stream(DEVICE)
    assert_equal before, OneFlow.default_stream(DEVICE)
    refute_equal before, stream
    x = stream.use do |used|
      assert_same stream, used
      assert_equal stream, OneFlow.current_stream(DEVICE)
      OneFlow.ones(1000, device: DEVICE) + 1
    end
    assert_equal before, OneFlow.current_stream(DEVICE)
    before.wait_stream(stream)
    assert_in_delta 2000, x.sum.item
    stream.synchronize
    assert stream.query
    assert_raises(RuntimeError) { stream.use { raise "mine" } }
    assert_equal before, OneFlow.current_stream(DEVICE)
  end

  def test_events_order_streams
    stream = OneFlow::Stream.new(DEVICE)
    standard = OneFlow.default_stream(DEVICE)
    x = stream.use { OneFlow.full([100], 3, device: DEVICE) }
    event = stream.record_event
    standard.wait_event(event)
    assert_in_delta 600, (x * 2).sum.item
    event.synchronize
    assert event.query
    first, last = Array.new(2) { OneFlow::Event.new(DEVICE, enable_timing: true) }
    first.record
    last.record(standard)
    last.synchronize
    assert_operator first.elapsed_time(last), :>=, 0
  end

  def test_equality
    stream = OneFlow::Stream.new(DEVICE)
    other = stream.use { OneFlow.current_stream(DEVICE) }
    assert_equal 1, [stream, other].uniq.size
    refute_equal stream, stream.id
  end

  def test_errors
    assert_raises(OneFlow::Unsupported) { OneFlow::Stream.new("cpu") }
    assert_error(OneFlow::TypeMismatch, "use: missing block") { OneFlow::Stream.new(DEVICE).use }
    text = "current_stream=: stream must be Stream, got Integer"
    assert_error(OneFlow::TypeMismatch, text) { OneFlow.current_stream = 3 }
  end
end
