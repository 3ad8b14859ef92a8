# frozen_string_literal: true

require_relative "helper"

# Tests sessions: later runs of a graph, which repeat planned work, warm-up, and memory limits.
class SessionTest < OneFlowTest
  WEIGHTS = {
    first: OneFlow.randn(16, 3, 3, 3), bias: OneFlow.randn(16), second: OneFlow.randn(8, 16, 1, 1),
    last: OneFlow.randn(5, 8)
  }.freeze

  def apply(input)
    pooled = OneFlow.max_pool2d(OneFlow.conv2d(input, WEIGHTS[:first], WEIGHTS[:bias], padding: [1]).relu, [2, 2])
    mapped = ((OneFlow.conv2d(pooled, WEIGHTS[:second]) * 2) + 1).sigmoid
    OneFlow.linear(mapped.mean([2, 3]), WEIGHTS[:last]).softmax(-1)
  end

  def network = OneFlow::Graph.capture(OneFlow.ones(1, 3, 12, 12), dynamic: "batch") { |x| apply(x) }

  def images(count) = OneFlow.randn(count, 3, 12, 12)

  def test_later_runs_give_the_same_bits
    graph = network
    12.times do |run|
      x = images((run % 3) + 1)
      assert_equal apply(x).to_binary, graph.call(x).to_binary
    end
  end

  def test_threads_share_a_session
    graph = network
    threads = [1, 2, 3, 1].map do |count|
      Thread.new do
        x = images(count)
        expected = apply(x).to_binary
        Array.new(20) { graph.call(x).to_binary == expected }.all?
      end
    end
    assert threads.all?(&:value)
  end

  def test_outputs_are_memory_of_their_own
    graph = OneFlow::Graph.capture(OneFlow.ones(4)) { |x| (x + 1) * 2 }
    kept = graph.call(OneFlow.zeros(4))
    3.times { |value| graph.call(OneFlow.full([4], value.to_f)) }
    assert_equal [2.0] * 4, kept.to_a
  end

  def test_warm_up
    graph = network
    assert_equal 0, graph.memory
    graph.warm_up(batch: 4)
    assert_operator graph.memory, :>=, 4 * 16 * 12 * 12 * 4
    graph.warm_up
    x = images(4)
    assert_equal apply(x).to_binary, graph.call(x).to_binary
    assert_raised(OneFlow::InvalidArgument, "warm_up: the sizes must be batch, got time") { graph.warm_up(time: 4) }
    assert_raised(OneFlow::TypeMismatch, "warm_up: batch must be Integer, got String") { graph.warm_up(batch: "4") }
  end

  def test_a_memory_limit
    graph = OneFlow::Graph.capture(OneFlow.ones(50), dynamic: "n") { |x| (x + 1).exp.sum }
    assert_nil graph.memory_limit
    graph.memory_limit = 10_000
    assert_equal 10_000, graph.memory_limit
    3.times { graph.call(OneFlow.ones(500)) }
    error = assert_raises(OneFlow::OutOfMemory) { graph.call(OneFlow.ones(5000)) }
    assert_match(/\Arun: call \d+, \w+: the run needs at least 20000 bytes, more than the memory limit/, error.message)
    graph.memory_limit = nil
    graph.call(OneFlow.ones(5000))
    assert_raised(OneFlow::InvalidArgument, "memory_limit: the limit must be positive, got -1") do
      graph.memory_limit = -1
    end
    assert_raised(OneFlow::TypeMismatch, "memory_limit: the limit must be Integer or nil, got String") do
      graph.memory_limit = "1"
    end
  end

  private

  def assert_raised(type, message, &)
    assert_equal message, assert_raises(type, &).message
  end
end
