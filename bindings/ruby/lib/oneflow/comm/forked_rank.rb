# frozen_string_literal: true

require "oneflow/comm/fork_body"

module OneFlow
  module Comm
    # A fork of this process that calls a block as a rank of a job, and what it has written.
    class ForkedRank
      # How the block has failed: the time of the clock that all processes of a host share, texts, and what Marshal has
      # written of the error, if it can.
      Failure = Struct.new(:time, :summary, :trace, :dump) do
        # Returns the error; nil if it cannot be passed.
        def error
          Marshal.load(dump) if dump # rubocop:disable Security/MarshalLoad
        rescue ArgumentError, TypeError
          nil
        end
      end
      CHUNK = 1 << 16

      # The result of the block, its failure, and how the process has ended.
      attr_reader :number, :result, :failure, :end

      # Starts the fork. The lines that it writes get a tag.
      def initialize(number, tag, body)
        @number = number
        @tag = tag
        pipes = Array.new(3) { IO.pipe(binmode: true) }
        @out, @err, @outcome = pipes.map(&:first)
        @lines = { @out => +"", @err => +"" }
        @bytes = +"".b
        @ended_early = false
        @process = Process.fork { body.run(*pipes.map(&:last)) }
        pipes.each { |_, writer| writer.close }
      end

      # Returns whether the outcome is known, or the process has ended without one.
      def over? = @outcome.closed?

      def ended_early? = @ended_early

      def failed? = ended_early? || !@failure.nil?

      def readers = [@out, @err, @outcome].reject(&:closed?)

      # Takes what some of the readers have.
      def read(ready)
        (readers & ready).each { |reader| reader.equal?(@outcome) ? read_outcome : read_lines(reader) }
      end

      # Takes what is left after the process was told to end, and waits for it.
      def finish
        [@out, @err].each do |reader|
          nil while !reader.closed? && read_lines(reader)
          write(reader, @lines[reader], "\n") unless @lines[reader].empty?
        end
        readers.each(&:close)
        @end = Process.wait2(@process).last.then do |status|
          next "ended with exit status #{status.exitstatus}" unless status.signaled?

          "was killed by signal #{status.termsig} (SIG#{Signal.signame(status.termsig)})"
        end
      end

      private

      # Returns nil if there is nothing to read.
      def chunk_of(reader)
        chunk = reader.read_nonblock(CHUNK, exception: false)
        reader.close if nil.equal?(chunk)
        chunk if String === chunk
      end

      def read_lines(reader)
        chunk = chunk_of(reader) or return
        *lines, @lines[reader] = (@lines[reader] << chunk).split("\n", -1)
        lines.each { |line| write(reader, line, "\n") }
      end

      def write(reader, line, ending)
        stream = reader.equal?(@out) ? $stdout : $stderr # which notebooks and tests replace
        stream.write("#{@tag}#{line.force_encoding(Encoding::UTF_8)}#{ending}")
        stream.flush
      end

      def read_outcome
        chunk = chunk_of(@outcome)
        @ended_early = @outcome.closed?
        return unless chunk

        @bytes << chunk
        return unless complete?

        @outcome.close
        @result, failure = Marshal.load(@bytes.byteslice(ForkBody::SIZE_BYTES..)) # rubocop:disable Security/MarshalLoad
        @failure = Failure.new(*failure) if failure
      rescue ArgumentError, TypeError => e # such as a class that only the fork has
        raise CommunicationError, "comm.spawn: the result of rank #{@number} cannot be read by Marshal: #{e.message}"
      end

      def complete?
        head = ForkBody::SIZE_BYTES
        @bytes.bytesize >= head && @bytes.bytesize >= head + @bytes.unpack1(ForkBody::SIZE)
      end
    end
    private_constant :ForkedRank
  end
end
