# frozen_string_literal: true

module Commnet
  # Runs the thread of an endpoint that takes its events: it wakes those that wait for operations, and calls handlers.
  # Endpoint includes it.
  module Dispatcher
    include Guard

    # Waits of more seconds have no limit.
    LONGEST_WAIT = 1_000_000_000

    private

    def start_dispatcher
      @lock = Mutex.new
      @backlog = []
      @dispatcher = Thread.new { dispatch }
      @dispatcher.name = "commnet #{name}"
      @dispatcher.report_on_exception = true
    end

    # Closes the endpoint, and lets those know that wait for its operations.
    def end_operations
      return unless (watched = shut)

      Endpoint.open_endpoints.delete(self)
      watched.each { |operation| settle(operation) }
    end

    # Waits for a handler that runs, until a time; nil: without a limit.
    def await_handlers(limit)
      return if Thread.current == @dispatcher || foreign?

      @dispatcher&.join(limit && [limit - now, 0].max)
    end

    def dispatch
      until closed?
        event = @backlog.shift || take_event
        event ? handle(event) : await_event(nil)
      end
    ensure
      close
    end

    # Waits until an operation is done.
    def wait_for(operation, timeout)
      limit = limit_of(timeout)
      return help_until_done(operation, limit) if Thread.current == @dispatcher

      @lock.synchronize do
        operation.__send__(:watch)
        until operation.done?
          require_own
          operation.__send__(:condition).wait(@lock, rest_until(limit))
        end
      end
    end

    def call_at_end(operation, block)
      operation.__send__(:watch)
      is_done = @lock.synchronize do
        operation.done?.tap { |done| operation.__send__(:add_callback, block) unless done }
      end
      block.call(operation) if is_done
    end

    # Takes events on the thread that runs handlers. What is for handlers waits until the current one returns.
    def help_until_done(operation, limit)
      operation.__send__(:watch)
      until operation.done?
        require_own
        case event = take_event
        when nil then await_event(rest_until(limit))
        when Operation then settle(event)
        when true then next
        else @backlog << event
        end
      end
    end

    # Returns the seconds that are left; nil without a limit.
    def rest_until(limit)
      return unless limit

      rest = limit - now
      raise TimedOut, "the operation goes on" unless rest.positive?

      rest
    end

    def require_own
      raise Closed, "the endpoint belongs to the parent of this process" if foreign?
    end

    # Returns the time at which a wait ends; nil without a limit.
    def limit_of(timeout)
      return unless timeout

      number = Numeric === timeout && timeout.real? # rubocop:disable Style/CaseEquality -- also of a BasicObject
      raise WrongType, "timeout must be a number of seconds" unless number
      raise InvalidArgument, "timeout must be at least 0, got #{timeout}" unless timeout >= 0

      now + timeout if timeout < LONGEST_WAIT
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def handle(event)
      case event
      when Operation then settle(event)
      when Message then receive_message(event.__send__(:load))
      when Array then guard { notify(*event) }
      end
    end

    # A message whose handler was removed meanwhile is dropped.
    def receive_message(message)
      guard { @handlers[message.handler]&.call(message) }
    end

    # Wakes those that wait for an operation.
    def settle(operation)
      callbacks = @lock.synchronize { operation.__send__(:finish) }
      callbacks.each { |callback| guard { callback.call(operation) } }
    end

    def notify(kind, *arguments)
      (kind == :joined ? @on_join : @on_leave)&.call(*arguments)
    end
  end

  private_constant :Dispatcher
end
