# frozen_string_literal: true

require "json"
require_relative "helper"

# Tests that other threads run while a thread waits for a device, and that a forked child gets an error for a device
# that it cannot use. The test accelerator can hold its work until it is told to continue: a thread that kept Ruby's
# lock while it waits would then deadlock.
class WaitingTest < OneFlowTest
  # Asserts that a program runs to its end with the test accelerator.
  def assert_done(program)
    assert_equal ["done"], run_alone("#{program}\nputs :done", { "ONEFLOW_DEVICE_PATH" => plugin("accel") })
  end

  WAITS = [
    "x.item", "x.to_a", "x.inspect", "x.to_s", "x.to_binary", "x.hash", "x.each { nil }", "x[0].to_f", "x == x.dup",
    "x.eql?(x)", "Marshal.dump(x)", "x.nonzero", "x[x > 0]", "x + 1", "x.add!(1)", "x[0] = 2.0", "x[[0]] = [2.0]",
    "OneFlow.ones(1).copy!(x)", "x.to('cpu')", "x.to('accel:1')[0].item", "OneFlow.tensor([1.0], device: 'accel')",
    "OneFlow.tensor(x, device: 'cpu')", "OneFlow.tensor(x, dtype: :float16).to_a",
    "OneFlow.from_binary('abcd', dtype: :float32, device: 'accel')", "OneFlow.ones(1).to('accel')",
    "OneFlow.synchronize('accel')", "OneFlow::Comm::Local.scatter(OneFlow.ones(2), %w[cpu accel])",
    "(Thread.new { OneFlow.empty(1 << 16, device: 'accel') && nil }.join && GC.start) || OneFlow.empty_cache('accel')"
  ].freeze

  WAITS.each_with_index do |wait, number|
    define_method("test_other_threads_run_while_one_waits_#{number}") do
      assert_done(<<~RUBY)
        wait = ->(x) { #{wait} }
        x = -OneFlow.ones(1, device: "accel")
        wait.call(x) # so that everything that is allocated only once exists
        OneFlow.synchronize("accel")
        OneFlow.set_option(:accel_hold, 1)
        x = -x
        over = false
        thread = Thread.new { wait.call(x) && (over = true) }
        Thread.pass until thread.stop?
        100.times { GC.start(full_mark: false) && OneFlow.ones(3).sum.item }
        OneFlow.memory_stats("accel")
        abort "it did not wait" unless thread.alive?
        OneFlow.set_option(:accel_hold, 0)
        thread.join
      RUBY
    end
  end

  # The thread ends once the device has responded, and the device keeps working.
  def test_a_thread_that_is_killed_while_it_waits
    assert_done(<<~RUBY)
      x = OneFlow.ones(1, device: "accel")
      x.item
      OneFlow.set_option(:accel_hold, 1)
      over = false
      thread = Thread.new { (-x).item && (over = true) }
      Thread.pass until thread.stop?
      thread.kill
      OneFlow.set_option(:accel_hold, 0)
      thread.join
      abort "it went on" if over
      abort "the device does not work" unless (-x).item == -1
    RUBY
  end

  def test_many_threads
    assert_done(<<~RUBY)
      OneFlow.set_option(:accel_slow, 50)
      threads = Array.new(16) do |number|
        Thread.new do
          x = OneFlow.full([100], number.to_f, device: "accel:\#{number % 2}")
          20.times { x = -(x * 1) }
          x.to("accel:\#{(number + 1) % 2}").to_a
        end
      end
      threads.each_with_index { |thread, number| abort thread.value.inspect if thread.value != [number.to_f] * 100 }
    RUBY
  end

  # Each Ractor has its own lock.
  def test_many_ractors
    assert_done(<<~RUBY)
      Warning[:experimental] = false
      OneFlow.devices
      ractors = Array.new(4) do |number|
        Ractor.new(number) do |n|
          x = OneFlow.full([100], n.to_f, device: "accel:\#{n % 2}")
          20.times { x = -(x * 1) }
          x.to("accel:\#{(n + 1) % 2}").to_a
        end
      end
      ractors.each_with_index { |ractor, number| abort number.to_s if ractor.take != [number.to_f] * 100 }
    RUBY
  end

  # The child has no worker thread for the device: the device is lost in the child, but not in the parent.
  def test_a_forked_child
    assert_done(<<~RUBY)
      x = OneFlow.ones(4, device: "accel")
      x.to_a
      child = fork do
        x.to_a
        exit!(1)
      rescue OneFlow::DeviceError => e
        exit!(e.message.include?("#{text_of_fork}") && OneFlow.ones(3).sum.item == 3 ? 0 : 2)
      end
      abort "the child" unless Process.wait2(child)[1].success?
      abort "the parent" unless (x * 3).to_a == [3.0] * 4
    RUBY
  end

  def test_a_forked_child_that_uses_the_device_first
    assert_done(<<~RUBY)
      child = fork { exit!((OneFlow.ones(4, device: "accel") * 2).to_a == [2.0] * 4 ? 0 : 1) }
      abort "the child" unless Process.wait2(child)[1].success?
      abort "the parent" unless (OneFlow.ones(4, device: "accel") * 3).to_a == [3.0] * 4
    RUBY
  end

  def test_a_process_that_ends_while_its_device_works
    assert_done(<<~RUBY)
      OneFlow.set_option(:accel_slow, 1000)
      x = OneFlow.ones(4, device: "accel")
      50.times { x = -x }
      Thread.new { x.item }
    RUBY
  end

  # The product of a matrix of windows with itself takes minutes. A profile says whether the call was ended early.
  LONG_CALLS = [
    "x.matmul(x.T)", "OneFlow.einsum('ij,kj->ik', x, x)", "x.exp",
    "OneFlow.einsum_expression('ij,kj->ik', x.shape, x.shape).call(x, x)"
  ].freeze

  LONG_CALLS.each_with_index do |call, number|
    define_method("test_timeout_ends_a_long_call_#{number}") do
      assert_done(<<~RUBY)
        require "timeout"
        x = OneFlow.ones(4_000_000).unfold(0, 2_000_000, 1)[0...2000]
        profile = OneFlow.profile do
          Timeout.timeout(0.2) { #{call} }
          abort "no error"
        rescue Timeout::Error
          nil
        end
        abort "it went on" unless profile.entries.any?(&:failed)
        abort "the process does not work" unless OneFlow.ones(300, 300).sum.item == 90_000
      RUBY
    end
  end

  def test_interrupts_end_a_long_call_of_the_main_thread
    assert_done(<<~RUBY)
      x = OneFlow.ones(4_000_000).unfold(0, 2_000_000, 1)[0...2000]
      spawn("sleep 0.3; kill -INT \#{$$}")
      begin
        x.matmul(x.T)
        abort "no error"
      rescue Interrupt
        nil
      end
    RUBY
  end

  def test_a_thread_that_is_killed_while_it_computes
    assert_done(<<~RUBY)
      x = OneFlow.ones(4_000_000).unfold(0, 2_000_000, 1)[0...2000]
      thread = Thread.new { x.matmul(x.T) }
      Thread.pass until thread.stop?
      thread.kill.join
      abort "it has a result" if thread.value
    RUBY
  end

  # The handler does not raise: the call is made again, or goes on, and its result is right. Random numbers are those of
  # a call without an interrupt.
  def test_a_handler_that_returns
    assert_done(<<~RUBY)
      count = 0
      trap("USR1") { count += 1 }
      spawn("for i in 1 2 3 4 5 6; do sleep 0.02; kill -USR1 \#{$$}; done")
      x = OneFlow.ones(1500, 1500)
      y = x.dup
      OneFlow.manual_seed(1)
      numbers = nil
      while count < 4
        y = y.matmul(x) * (1.0 / 1500)
        numbers = OneFlow.manual_seed(1) && OneFlow.rand(100_000)
      end
      abort "the product" unless y == x
      abort "the numbers" unless numbers == (OneFlow.manual_seed(1) && OneFlow.rand(100_000))
    RUBY
  end

  private

  def text_of_fork = JSON.parse(File.read(File.expand_path("../../../tests/faults.json", __dir__))).dig("texts", "fork")
end
