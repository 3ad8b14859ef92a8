# frozen_string_literal: true

# Does something that disturbs collectives again and again as one rank of a job, and checks all results.

require "English"
require "oneflow"

COMM = OneFlow::Comm
COMM.init(timeout: 100)
RANK = COMM.rank
SIZE = COMM.world_size
TOTAL = SIZE * (SIZE + 1) / 2
CHOICE = Random.new(RANK)

def operand(count) = OneFlow.full([count], RANK + 1.0)

def check(result)
  raise "#{result[0].item} #{result[-1].item}" unless [result[0].item, result[-1].item] == [TOTAL, TOTAL]
end

# Returns how many elements call i has, which all ranks know.
def count_of(index) = [3, 5_000, 200_000][index % 3]

# Sends SIGINT to this process at random moments, while a block runs.
def with_signals
  done = false
  thread = Thread.new do
    until done
      sleep CHOICE.rand(0.003)
      Process.kill(:INT, Process.pid)
    end
  end
  yield
  done = true
  thread.join
end

# Returns whether a block raises CommunicationError.
def refuses?
  yield
  false
rescue OneFlow::CommunicationError
  true
end

# The scenarios.
module Scenarios
  module_function

  # The handler raises, but only where a wait can be repeated.
  def raised_interrupts
    can_raise = false
    interrupts = 0
    Signal.trap(:INT) do
      if can_raise
        can_raise = false
        raise Interrupt
      end
    end
    with_signals do
      600.times do |i|
        work = COMM.all_reduce_async(operand(count_of(i)))
        result = nil
        until result
          begin
            can_raise = true
            result = work.wait
            can_raise = false
          rescue Interrupt
            interrupts += 1
          end
        end
        check(result)
      end
    end
    raise "no interrupts" if interrupts.zero?
  end

  # The handler returns, and the call goes on.
  def quiet_interrupts
    interrupts = 0
    Signal.trap(:INT) { interrupts += 1 }
    with_signals do
      600.times do |i|
        check(COMM.all_reduce(operand(count_of(i))))
        COMM.barrier
      end
    end
    raise "no interrupts" if interrupts.zero?
  end

  # Forks while another thread is within collectives. Children take no part, and end in two ways.
  def forks
    done = false
    thread = Thread.new do
      (0..).each do |i|
        check(COMM.all_reduce(operand(count_of(i))))
        break unless COMM.broadcast(OneFlow.tensor([done ? 1.0 : 0.0]), 0).item.zero?
      end
    end
    60.times do |i|
      work = COMM.all_reduce_async(operand(10), group: RANK.to_s)
      child = fork do
        calls = [-> { COMM.all_reduce(operand(3)) }, -> { COMM.barrier }, -> { work.wait }, -> { COMM.init }]
        is_right = calls.all? { |call| refuses?(&call) }
        COMM.finalize
        i.even? ? exit(is_right) : exit!(is_right)
      end
      Process.wait(child)
      raise "the child has failed" unless $CHILD_STATUS.success?

      work.wait
    end
    done = true
    thread.join
  end

  # Joins and leaves while another thread calls: it is told, whatever it is within.
  def leaves
    20.times do |cycle|
      thread = Thread.new { (0..).find { |i| refuses? { check(COMM.all_reduce(operand(count_of(i)))) } } }
      sleep CHOICE.rand(0.05)
      COMM.finalize
      thread.join
      raise "it was not told" unless refuses? { COMM.all_reduce(operand(3)) }

      COMM.init(timeout: 100) if cycle < 19
    end
  end

  # Ends while a thread is within collectives.
  def ends
    Thread.new { (0..).find { |i| refuses? { COMM.all_reduce(operand(count_of(i))) } } }
    sleep CHOICE.rand(0.3)
  end
end

Scenarios.public_send(ARGV[0])
