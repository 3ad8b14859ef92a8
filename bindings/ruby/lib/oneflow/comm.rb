# frozen_string_literal: true

require "oneflow/comm/forked_job"

module OneFlow
  # What Ruby has of its own for jobs of several processes.
  module Comm
    # Forks this process `n` times, calls the block with `args` in each, and returns the results in the order of the
    # ranks. The processes are the ranks of a new job. If one fails, the others are ended, and CommunicationError says
    # which, and has its error as the cause.
    def self.spawn(n, *args, &block) # rubocop:disable Naming/MethodParameterName
      Autograd.given_block("comm.spawn", block)
      raise TypeMismatch, "comm.spawn: n must be a positive Integer, got #{Autograd.type_description(n)}" \
        unless Integer === n
      raise InvalidArgument, "comm.spawn: n must be a positive Integer, got #{n}" unless n.positive?

      if is_initialized && world_size > 1
        raise CommunicationError, "comm.spawn: this process is rank #{rank} of a job, in which its forks take no " \
                                  "part: call spawn before the job is joined"
      end
      ForkedJob.new(n) { block.call(*args) }.results
    end
  end
end
