# frozen_string_literal: true

# Runs a scenario of something that goes wrong as one rank of a job, and prints a line of JSON for each outcome. See
# faults.py.

require "json"
require "oneflow"

COMM = OneFlow::Comm
RANK = Integer(ENV.fetch("ONEFLOW_RANK"))

# Prints the result of a block, or its error.
def attempt
  result = yield
  puts JSON.generate(result.is_a?(OneFlow::Tensor) ? result.to_a : result)
rescue OneFlow::Error, Interrupt => e
  puts JSON.generate([e.class.name.split("::").last, e.message])
ensure
  $stdout.flush
end

def ones(*shape) = OneFlow.ones(shape, device: ENV.fetch("TEST_DEVICE", "cpu"))

# Joins with a short deadline, once all ranks have started: that may take longer.
def join
  folder = ENV.fetch("TEST_FOLDER")
  File.write("#{folder}/started.#{RANK}", "")
  sleep 0.01 while Dir["#{folder}/started.*"].size < Integer(ENV.fetch("ONEFLOW_WORLD_SIZE"))
  COMM.init(timeout: 2)
end

# Returns on rank 1 after all others have called it, which need nothing of rank 1 to go on.
def reach_rank1 = COMM.gather(OneFlow.ones([1]), 1)

# The scenarios.
module Scenarios
  module_function

  def killed
    reach_rank1
    Process.kill(:KILL, Process.pid) if RANK == 1
    attempt { COMM.all_reduce(ones(3)) }
    attempt { COMM.all_reduce_async(ones(3)).wait }
    attempt { COMM.all_reduce(ones(3), group: COMM::Group.new([0, 2, 3])) }
  end

  def stopped
    join
    reach_rank1
    Process.kill(:STOP, Process.pid) if RANK == 1
    attempt { COMM.all_reduce(ones(3)) }
  end

  def operators
    attempt { RANK == 1 ? COMM.all_gather(ones(3)) : COMM.all_reduce(ones(3)) }
    attempt { COMM.all_reduce(ones(3)) }
  end

  def shapes
    attempt { COMM.all_reduce(ones(3 + (RANK / 2))) }
    attempt { COMM.all_reduce(ones(3)) }
  end

  def dtypes
    attempt { COMM.all_reduce(OneFlow.ones([3], dtype: RANK.zero? ? :int64 : :float32), op: "max") }
  end

  def roots
    attempt { COMM.broadcast(ones(3), RANK == 2 ? 1 : 0) }
    attempt { COMM.all_reduce(ones(3)) }
  end

  def leaves
    COMM.barrier
    attempt { COMM.all_reduce(ones(3)) } unless RANK == 1
  end

  def never = attempt { COMM.init(timeout: 2) }

  def busy(signal)
    join
    x = ones(3)
    attempt { COMM.all_reduce(x) }
    OneFlow.set_option("accel_hold", 1) if RANK == 1
    result = COMM.all_reduce(x)
    reach_rank1
    Process.kill(signal, Process.pid) if RANK == 1
    attempt { result }
    attempt { COMM.all_reduce(ones(3), group: "0,2") }
  end

  def busy_killed = busy(:KILL)
  def busy_stopped = busy(:STOP)

  def failing
    OneFlow.set_option("accel_fail_collectives", 1) if RANK == 1
    attempt { COMM.all_reduce(ones(3)) }
    COMM.barrier
    attempt { COMM.all_reduce(ones(3)) }
  end

  def through_host
    x = ones(3)
    OneFlow.reset_fallbacks
    attempt { COMM.all_reduce(x) }
    attempt { COMM.all_reduce_async(x).wait }
    attempt { OneFlow.fallbacks.values }
    OneFlow.set_option("fallback_is_error", 1)
    attempt { COMM.all_reduce(x) }
    attempt { COMM.all_reduce_async(x).wait }
  end

  def host
    attempt { COMM.all_reduce(RANK == 1 ? OneFlow.ones(3) : ones(3)) }
    attempt { COMM.all_reduce(ones(3)) }
  end

  def lists
    attempt { COMM.all_reduce([ones(2), ones(2)]) }
    attempt { COMM.all_gather([[1.0, RANK]]) }
  end

  def secrets = attempt { COMM.all_reduce(ones(3)) }

  def twice
    COMM.init
    attempt { COMM.init }
    attempt { COMM.all_reduce(ones(1)) }
    COMM.barrier
    COMM.finalize
    attempt { COMM.all_reduce(ones(1)) }
    COMM.finalize
  end

  def forks
    COMM.barrier
    Process.wait(fork { attempt { COMM.all_reduce(ones(1)) } })
    attempt { COMM.all_reduce(ones(1)) }
  end

  def many
    works = Array.new(3000) { |i| COMM.all_reduce_async(OneFlow.full([100], i.to_f)) }
    attempt { works.each_with_index.all? { |work, i| work.wait[0].item == 3 * i } }
  end

  def interrupted
    COMM.barrier
    if RANK == COMM.world_size - 1
      sleep 1
    else
      Thread.new do
        sleep 0.3
        Process.kill(:INT, Process.pid)
      end
    end
    attempt { COMM.all_reduce(ones(3)) }
    attempt { COMM.all_reduce(ones(2)) }
  end
end

Scenarios.public_send(ARGV[0])
