# frozen_string_literal: true

module OneFlow
  module Comm
    # What a fork of a program does: it calls a block as a rank of a job, and writes the outcome.
    class ForkBody
      # The format of the size of an outcome, which precedes it.
      SIZE = "Q"
      SIZE_BYTES = 8

      # `variables` are those of the environment, and `processes` gets the number of the process.
      def initialize(variables, processes, block)
        @variables = variables
        @processes = processes
        @block = block
      end

      # Ends the process without what the program has left for its own end.
      def run(out, err, writer)
        outcome = outcome_of_block(out, err)
      rescue Exception => e # rubocop:disable Lint/RescueException
        outcome = failure_of(e)
      ensure
        write(outcome || failure_of(LocalJumpError.new("the block was left by break, return or throw")), writer)
      end

      private

      def outcome_of_block(out, err)
        enter(out, err)
        result = @block.call
        Comm.finalize
        begin
          Marshal.dump([result, nil])
        rescue TypeError => e
          raise TypeMismatch, "comm.spawn: the result cannot be written by Marshal: #{e.message}"
        end
      end

      def write(outcome, writer)
        writer.write([outcome.bytesize].pack(SIZE), outcome)
        writer.close
      ensure
        exit!(true)
      end

      def enter(out, err)
        Process.setpgid(0, 0)
        @processes.syswrite("#{Process.pid}\n")
        @processes.close
        %w[INT TERM].each { |signal| trap(signal, "DEFAULT") }
        take_streams(out, err)
        @variables.each do |variable|
          name, value = variable.split("=", 2)
          ENV[name] = value
        end
        OneFlow.num_threads = Integer(ENV.fetch("ONEFLOW_NUM_THREADS"))
      end

      # Not $stdout: programs may have replaced it.
      def take_streams(out, err)
        # rubocop:disable Style/GlobalStdStream
        $stdin = STDIN.reopen(File::NULL)
        $stdout = STDOUT.reopen(out)
        $stderr = STDERR.reopen(err)
        # rubocop:enable Style/GlobalStdStream
        [$stdout, $stderr].each { |stream| stream.sync = true }
      end

      def failure_of(error)
        time = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        trace = (error.backtrace || []).take_while { |line| !line.start_with?(__dir__) }
        texts = ["#{error.class}: #{error.message}", trace.join("\n")]
        Marshal.dump([nil, [time, *texts, dump_of(error)]])
      end

      def dump_of(error)
        Marshal.dump(error)
      rescue TypeError
        nil
      end
    end
    private_constant :ForkBody
  end
end
