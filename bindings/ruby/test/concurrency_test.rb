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

  private

  def ticks_during(work)
    before = yield
    work.call
    yield - before
  end

  def run_ruby(script)
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    system(RbConfig.ruby, "-W:no-experimental", *paths, "-e", script)
  end
end
