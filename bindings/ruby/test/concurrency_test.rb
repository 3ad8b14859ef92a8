# frozen_string_literal: true

require "timeout"
require_relative "helper"

# Tests threads, Ractors, interrupts and forked child processes.
class ConcurrencyTest < OneFlowTest
  # Computes a sum 0 + 2 + ... + 2 * (n - 1) in each round, with increasing n.
  def self.work(rounds)
    Array.new(rounds) { |i| (OneFlow.arange(100 + i) * 2).sum.item }
  end

  EXPECTED = Array.new(50) { |i| (100 + i) * (99 + i) }.freeze

  def test_threads
    results = Array.new(8) { Thread.new { ConcurrencyTest.work(50) } }.map(&:value)
    assert_equal [EXPECTED] * 8, results
  end

  # If the work kept Ruby's lock, the ticker could run before and after it, but not several times during it. On a busy
  # machine it may not run during some of the calls.
  def test_other_threads_run_during_long_work
    x = OneFlow.rand(1200, 1200)
    many = OneFlow.rand(1 << 22)
    mask = many > 0.5
    ticks = 0
    ticker = Thread.new { loop { (ticks += 1) && sleep(0.001) } }
    { matmul: -> { x.matmul(x) }, index: -> { many[mask] } }.each do |name, work|
      assert (1..1000).any? { ticks_during(work) { ticks } > 2 }, name
    end
  ensure
    ticker.kill
  end

  def test_interrupts
    x = OneFlow.rand(600, 600)
    assert_raises(Timeout::Error) { Timeout.timeout(0.1) { loop { x = x.matmul(x) / 600 } } }
    thread = Thread.new { loop { x.matmul(x) } }
    sleep(0.05)
    thread.kill.join
    assert_equal [600, 600], x.shape
  end

  def test_ractors
    script = <<~RUBY
      require "oneflow"
      ractors = Array.new(4) do |number|
        Ractor.new(number) do |n|
          values = Array.new(50) { |i| (OneFlow.arange(100 + i) * 2).sum.item }
          text = begin
            OneFlow.tensor([n]).sum(dims: 0)
          rescue OneFlow::Error => e
            e.message
          end
          parts = OneFlow.tensor([[n, 2]])[:rest, 0..].map(&:to_a)
          [values.sum, text, parts, 2 + OneFlow.tensor([n]), OneFlow.tensor([n]).inspect, OneFlow.rand(3).shape]
        end
      end
      ractors.each_with_index do |ractor, n|
        sum, text, parts, moved, printed, shape = ractor.take
        expected = [#{EXPECTED.sum}, "sum: unknown argument dims; did you mean dim?", [[n, 2]], [2 + n], "tensor([\#{n}])", [3]]
        found = [sum, text, parts, moved.to_a, printed, shape]
        abort("ractor \#{n}: \#{found}") unless found == expected
      end
      shared = Ractor.make_shareable(OneFlow.tensor([1.5, 2.5]))
      sums = Array.new(3) { Ractor.new(shared) { |x| (x + 1).sum.item } }.map(&:take)
      abort("shared: \#{sums}") unless sums == [6.0, 6.0, 6.0]
      copied = Ractor.new { Ractor.receive.add!(1).to_a }
      original = OneFlow.tensor([1.0])
      copied.send(original)
      abort("copied") unless copied.take == [2.0] && original.to_a == [1.0]
    RUBY
    assert run_ruby(script), "a Ractor computed a wrong result"
  end

  def test_fork
    x = OneFlow.ones(512, 512)
    expected = x.matmul(x).sum.item
    children = Array.new(3) do
      fork do
        right = x.matmul(x).sum.item == expected && (OneFlow.rand(100_000) + 1).sum.item > 100_000
        exit!(right ? 0 : 1)
      end
    end
    children.each { |child| assert_predicate Timeout.timeout(30) { Process.wait2(child)[1] }, :success? }
    assert_in_delta expected, x.matmul(x).sum.item
  end

  # A finalizer runs within the collection that a pass asks for when its addition to the gradient runs out of memory.
  COLLECTING = <<~RUBY
    require "oneflow"
    x = OneFlow.zeros(1 << 18)
    x.requires_grad = true
    one = OneFlow.ones(1 << 18) # is kept, so that the pass adds a copy
    found = []
    finalizer = proc do
      next unless found.empty?

      OneFlow.set_memory_limit(0)
      found << Thread.new { x.grad.nil? }.value << x.grad.nil?
      x.backward(one)
      x.backward(one, create_graph: true)
    end
    make = -> { Array.new(100) { ObjectSpace.define_finalizer(Object.new, finalizer) } && nil }
    GC.disable # Ruby itself must not collect the objects earlier
    make.call
    OneFlow.empty_cache
    OneFlow.set_memory_limit(OneFlow.memory_stats[:in_use] + 1000)
    x.backward(one)
    finalizer = nil
    abort("found " + found.inspect) unless found == [true, true]
    abort("gradient " + x.grad.to_a.uniq.inspect) unless x.grad.to_a.uniq == [3.0]
  RUBY

  def test_memory_runs_out_while_a_gradient_is_added
    assert run_ruby(COLLECTING), "code within the collection did not run, or was wrong"
  end

  # The handler runs on this thread, within a hook and between the attempts of passes.
  def test_a_trap_handler_runs_the_pass_that_it_interrupts
    assert run_ruby(<<~RUBY), "a gradient is wrong"
      require "oneflow"
      x = OneFlow.ones(400, 400)
      x.requires_grad = true
      one = OneFlow.ones(400, 400)
      y = one.matmul(x)
      passes = []
      pass = -> { (passes << 1) && y.backward(one, retain_graph: true) }
      trap("USR1") { pass.call }
      hook = x.register_hook { |_| hook.remove || (Process.kill("USR1", Process.pid) && nil) }
      sender = Thread.new { 20.times { sleep(0.005) || Process.kill("USR1", Process.pid) } }
      pass.call while sender.alive?
      sleep(0.05) # the last signal
      abort("found " + x.grad.to_a.flatten.uniq.inspect) unless x.grad.to_a.flatten.uniq == [400.0 * passes.size]
    RUBY
  end

  # The call runs without Ruby's lock, while another thread takes its tensors out of their list, and uses their memory.
  def test_a_list_of_operands_changes_during_a_call
    operands = []
    Thread.new { 3.times { operands << OneFlow.ones([1024, 1024]) } }.join # no stack refers to them
    call = Thread.new { OneFlow.einsum("ij,jk,kl->il", operands) }
    sleep(0.005)
    operands.clear
    GC.start
    others = Array.new(6) { OneFlow.full([1024, 1024], 5.0) }
    assert_equal [2.0**20], [call.value.min.item, call.value.max.item].uniq
    assert_equal 6, others.size
  rescue OneFlow::Error
    assert_empty operands # they were taken out before the call
  end

  def test_threads_run_a_pass_that_one_of_them_frees
    50.times do
      x = OneFlow.tensor([1.0, 3.0])
      x.requires_grad = true
      y = x * x
      texts = Array.new(3) { |i| Thread.new { pass_of(y, retain: i != 1) } }.map(&:value)
      added = texts.count(nil)
      assert_equal [2.0 * added, 6.0 * added], x.grad.to_a
      assert(texts.compact.all? { |text| text.include?("was freed by an earlier backward pass") })
    end
  end

  private

  # Returns the text of the failure of a pass, or nil.
  def pass_of(tensor, retain:)
    tensor.backward(OneFlow.ones(2), retain_graph: retain)
    nil
  rescue OneFlow::InvalidArgument => e
    e.message
  end

  def ticks_during(work)
    before = yield
    work.call
    yield - before
  end

  def run_ruby(script)
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    child = spawn(RbConfig.ruby, "-W:no-experimental", *paths, "-e", script)
    Timeout.timeout(60) { Process.wait2(child)[1] }.success?
  rescue Timeout::Error
    Process.kill("KILL", child)
    Process.wait(child)
    false
  end
end
