# frozen_string_literal: true

require "objspace"
require_relative "helper"

# Tests garbage collection: no tensor is freed too early, none leaks, and native memory is reported to Ruby.
class MemoryTest < OneFlowTest
  # Each result takes 64 bytes.
  def test_a_loop_that_drops_small_results
    a = tensor([1.0, 2.0, 3.0, 4.0])
    with_room(1 << 19) { 100_000.times { a.add(a) } }
  end

  def test_a_loop_that_drops_large_results
    a = OneFlow.ones(1 << 20)
    with_room(64 << 20) { 200.times { a.add(a) } }
  end

  # Tensors are few and small objects of Ruby: it collects them because their memory is reported to it.
  def test_ruby_collects_before_memory_runs_out
    a = OneFlow.ones(1 << 20)
    before = GC.count
    100.times { a.add(a) }
    assert_operator GC.count, :>, before
  end

  # A round makes five tensors, of up to 64 KiB each.
  def test_views_results_in_place_and_errors_leave_nothing
    with_room(16 << 20) do
      1000.times do |i|
        x = OneFlow.full([64, 128], i)
        x[0].add!(x.max(0)[0])
        assert_raises(OneFlow::Error) { x.add(OneFlow.ones(3, 1 << 13)) }
        assert_raises(OneFlow::Error) { OneFlow.cat([x, x, nil]) }
      end
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
      x = OneFlow.ones(size)
      with_room(room * 4 * size) do
        (4 * room).times { x.add(x) }
        held = []
        assert_raises(OneFlow::OutOfMemory) { loop { held << x.add(x) } }
        statistics = OneFlow.memory_stats
        assert_operator statistics[:in_use], :<=, statistics[:limit]
      end
    end
  end

  def test_invalid_limits
    assert_raises(OneFlow::TypeMismatch) { OneFlow.set_memory_limit(nil) }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.set_memory_limit("1") }
    assert_raises(OneFlow::InvalidArgument) { OneFlow.set_memory_limit(-1) }
    assert_raises(OneFlow::InvalidArgument) { OneFlow.set_memory_limit(2**70) }
    assert_raises(OneFlow::TypeMismatch) { OneFlow.set_memory_limit }
    assert_raises(OneFlow::DeviceError) { OneFlow.empty_cache("nowhere") }
  end

  def test_impossible_sizes
    assert_raises(OneFlow::Error) { OneFlow.zeros(1 << 50) }
    assert_raises(OneFlow::Error) { OneFlow.zeros(1 << 40, 1 << 40) }
    assert_raises(OneFlow::ShapeError) { OneFlow.zeros(-1) }
  end
end
