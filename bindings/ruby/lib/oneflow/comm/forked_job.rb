# frozen_string_literal: true

require "oneflow/comm/forked_rank"
require "oneflow/launcher"

module OneFlow
  module Comm
    # A job whose ranks are forks of this process. oneflow-run makes its meeting, and ends the processes with this one.
    class ForkedJob
      # For how many seconds the errors of other ranks are waited for: the first to be read need not be the cause.
      PATIENCE = 0.1

      def initialize(count, &block)
        @count = count
        @block = block
        @ranks = []
      end

      # Runs the job to its end, and returns the results of the ranks.
      def results
        hold
        @count.times do |number|
          tag = @count > 1 ? "[#{number}] " : ""
          @ranks << ForkedRank.new(number, tag, ForkBody.new(@variables[number], @processes, @block))
        end
        relay
        end_all
        raise_failure
        @ranks.map(&:result)
      ensure
        end_all
      end

      private

      # Starts the program that has the variables of the ranks, and ends the processes that it is told of.
      def hold
        input, @processes = IO.pipe
        output, writer = IO.pipe
        @launcher = Process.spawn(Launcher.path, "-n", @count.to_s, "--hold", in: input, out: writer)
        [input, writer].each(&:close)
        @variables = Array.new(@count) { output.gets("\0\0", chomp: true).to_s.split("\0") }
        raise CommunicationError, "comm.spawn: oneflow-run has failed" if @variables.any?(&:empty?)
      ensure
        [input, writer, output].each { |each| each&.close }
      end

      # Passes on what the ranks write, until all have ended, or shortly after one has failed.
      def relay
        read until all_over? || @ranks.any?(&:failed?)
        deadline = now + PATIENCE
        read([deadline - now, 0].max) until all_over? || now >= deadline
      end

      def all_over? = @ranks.all?(&:over?)

      def read(timeout = nil)
        ready, = IO.select(@ranks.flat_map(&:readers), nil, nil, timeout)
        @ranks.each { |rank| rank.read(ready || []) }
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      # Ends what is left of the ranks, and what they have started. Further calls do nothing.
      def end_all
        return unless @launcher

        @processes.close
        Process.wait(@launcher)
        @launcher = nil
        @ranks.each(&:finish)
      end

      # Raises the error of the rank that has failed first, if one has.
      def raise_failure
        ended = @ranks.find(&:ended_early?)
        raise CommunicationError, "comm.spawn: rank #{ended.number} #{ended.end} before the block returned" if ended

        first = @ranks.select(&:failed?).min_by { |rank| rank.failure.time } or return
        failure = first.failure
        text = "comm.spawn: rank #{first.number} raised #{failure.summary}\n\n#{failure.trace}"
        raise CommunicationError.new(text), cause: failure.error
      end
    end
    private_constant :ForkedJob
  end
end
