# frozen_string_literal: true

require_relative "helper"

# Waits let other fibers of a thread run.
class FibersTest < CommnetTest
  # The least of a fiber scheduler: it blocks and unblocks fibers, and sleeps.
  class Scheduler
    def initialize
      @waiting = {}
      @ready = Thread::Queue.new
    end

    def run
      until @waiting.empty? && @ready.empty?
        limit = @waiting.values.compact.min
        fiber = @ready.empty? ? next_ready(limit) : @ready.pop
        next unless fiber

        @waiting.delete(fiber)
        fiber.resume
      end
    end
    alias close run

    def block(_blocker, timeout = nil)
      @waiting[Fiber.current] = timeout && (now + timeout)
      Fiber.yield
      true
    end

    def unblock(_blocker, fiber) = @ready << fiber
    def kernel_sleep(duration = nil) = block(:sleep, duration)
    def io_wait(_io, events, _timeout) = events

    def fiber(&)
      Fiber.new(blocking: false, &).tap(&:resume)
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # Waits a little for another thread; returns a fiber that has waited long enough.
    def next_ready(limit)
      sleep 0.001
      @waiting.key(limit) if limit && limit <= now
    end
  end

  def test_fibers
    _, b, peer = connected_pair
    token = b.register("x" * 5_000_000).token
    order = []
    thread = Thread.new do
      Fiber.set_scheduler(Scheduler.new)
      Fiber.schedule do
        order << :begin
        order << peer.read(token).wait.bytesize
      end
      Fiber.schedule { order << :meanwhile }
    end
    assert thread.join(PATIENCE)
    assert_equal [:begin, :meanwhile, 5_000_000], order
  end
end
