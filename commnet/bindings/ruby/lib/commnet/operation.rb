# frozen_string_literal: true

module Commnet
  # A connection, a send, a read, a write or the mark of a queue.
  class Operation
    # Waits for the end, and returns the value: a String or the target of a read, the Peer of a connection, else nil.
    # Raises the error of an operation that has failed, and TimedOut after `timeout` seconds; the operation then goes
    # on. Other threads run meanwhile. A handler may wait.
    def wait(timeout: nil)
      endpoint.__send__(:wait_for, self, timeout) unless done?
      failure = error
      raise failure if failure

      result
    end
    alias value wait

    # Calls the block with the operation at its end, on the thread of the handlers; at once if it has ended.
    def on_done(&block)
      raise InvalidArgument, "on_done needs a block" unless block

      endpoint.__send__(:call_at_end, self, block)
      self
    end

    # Returns :pending, :done or :failed.
    def state
      return :pending unless done?

      error ? :failed : :done
    end

    def inspect = "#<#{self.class} #{state}>"

    private

    # A ConditionVariable for those that wait.
    def condition = @condition ||= ConditionVariable.new

    def add_callback(block) = (@callbacks ||= []) << block

    # Wakes those that wait, and returns the blocks to call.
    def finish
      @condition&.broadcast
      callbacks = @callbacks || []
      @callbacks = nil
      callbacks
    end
  end

  # Operations that complete in the order in which they began. They get it as the argument `queue`.
  class Queue
    # Returns an operation that ends once all operations that are in the queue now have completed.
    def mark(timeout: nil) = begin_mark(timeout)
  end
end
