# frozen_string_literal: true

require "objspace"
require_relative "helper"

# Tests garbage collection: no tensor is freed too early, none leaks, and native memory is reported to Ruby.
class MemoryTest < OneFlowTest
  def live = OneFlow.memory_stats[:tensors]

  def resident = File.read("/proc/self/statm").split[1].to_i * 4096

  # Each round drops results of 250 MB in total. Ruby collects when its heap is full, and the heap reaches its final
  # size in the first rounds; with a leak the process would grow in every round.
  def test_a_loop_that_drops_its_results_does_not_leak
    a = tensor([1.0, 2.0, 3.0, 4.0])
    sizes = Array.new(4) { 400_000.times { a.add(a) } && resident }
    assert_operator sizes.each_cons(2).map { |before, after| after - before }.min, :<, 32 << 20
    assert_operator live, :<, 400_000
  end

  def test_large_results_are_collected_in_time
    a = OneFlow.ones(1 << 20)
    peak = 0
    500.times do
      a.add(a)
      peak = [peak, OneFlow.memory_stats[:in_use]].max
    end
    assert_operator peak, :<, 256 << 20
  end

  def test_everything_is_released
    GC.start
    before = live
    make_garbage
    GC.start
    assert_in_delta before, live, 300 # a leak would keep 1000; the stack may keep what calls have left there
  end

  def make_garbage
    1000.times do |i|
      x = tensor([[i, 2], [3, 4]])
      x[0].add!(x.max(1)[0])
      assert_raises(OneFlow::Error) { x.add(tensor([1, 2, 3])) }
      assert_raises(OneFlow::Error) { OneFlow.cat([x, x, nil]) }
    end
  end

  def test_gc_stress
    GC.stress = true
    x = tensor([[1.0, 2.0], [3.0, 4.0]])
    y = OneFlow.einsum("ij,jk->ik", [x, (2 * x) + 1])
    values, = y.max(1)
    x[0, [1, 0]] = values
    text = "#{x.inspect} #{Marshal.load(Marshal.dump(y)).to_a} #{OneFlow.zeros(2, 2, dtype: "float64").shape}"
    error = assert_raises(OneFlow::TypeMismatch) { x.sum(dims: 1) }
  ensure
    GC.stress = false
    assert_equal "tensor([[51., 23.],\n        [ 3.,  4.]]) [[17.0, 23.0], [37.0, 51.0]] [2, 2]", text
    assert_equal "sum: unknown argument dims; did you mean dim?", error.message
  end

  # Runs in a child process, because other extensions that the tests load (rbs) crash when their objects are moved.
  def test_compaction
    child = fork do
      kept = Array.new(2000) { |i| tensor([i, i + 1]) }
      keyed = { kept[7] => :seven }
      GC.verify_compaction_references(double_heap: true, toward: :empty)
      right = kept.map { |one| one[0].item } == (0...2000).to_a && keyed[tensor([7, 8])] == :seven &&
              OneFlow.stack(kept)[0] == kept[0] && kept[1].sum(dim: 0, keepdim: true).to_a == [3]
      exit!(right ? 0 : 1)
    end
    assert_predicate Process.wait2(child)[1], :success?
  end

  def test_accounting
    big = OneFlow.zeros(1 << 20)
    assert_operator ObjectSpace.memsize_of(big), :>=, 4 << 20
    assert_operator ObjectSpace.memsize_of(big[0]), :<, 1 << 10
  end

  # The limit leaves room for a few results, far less than the amount at which Ruby collects on its own. Operators on
  # the large size run without Ruby's lock.
  def test_out_of_memory_collects_first
    { 1 << 20 => 3, 1 << 10 => 64 }.each do |size, room|
      3.times { GC.start } # what one collection frees may have held more
      x = OneFlow.ones(size)
      OneFlow.set_memory_limit(OneFlow.memory_stats[:in_use] + (room * 4 * size))
      (4 * room).times { x.add(x) }
      held = []
      assert_raises(OneFlow::OutOfMemory) { (40 * room).times { held << x.add(x) } }
      assert_operator held.size, :<=, room + 64 # and what was garbage at the beginning, which the stack may have kept
    ensure
      OneFlow.set_memory_limit(0)
    end
  end

  def test_invalid_limits
    assert_raises(OneFlow::TypeMismatch) { OneFlow.set_memory_limit(nil) }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.set_memory_limit("1") }
    assert_raises(OneFlow::InvalidArgument) { OneFlow.set_memory_limit(-1) }
    assert_raises(OneFlow::InvalidArgument) { OneFlow.set_memory_limit(2**70) }
    assert_raises(ArgumentError) { OneFlow.set_memory_limit }
    assert_raises(OneFlow::DeviceError) { OneFlow.empty_cache("nowhere") }
  end

  def test_impossible_sizes
    assert_raises(OneFlow::Error) { OneFlow.zeros(1 << 50) }
    assert_raises(OneFlow::Error) { OneFlow.zeros(1 << 40, 1 << 40) }
    assert_raises(OneFlow::ShapeError) { OneFlow.zeros(-1) }
  end
end
