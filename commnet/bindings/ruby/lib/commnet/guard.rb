# frozen_string_literal: true

module Commnet
  # Calls what belongs to the program, such as handlers, and says what it raises. Endpoint includes it.
  module Guard
    private

    # A handler that raises does not end the thread, of which Ruby would say little.
    def guard
      yield
    rescue SystemExit
      raise # ends the process
    rescue Exception => e # rubocop:disable Lint/RescueException -- also NotImplementedError
      report(e)
    end

    def report(error)
      return tell("a handler", error) unless @on_error

      @on_error.call(error)
    rescue SystemExit
      raise
    rescue Exception => e # rubocop:disable Lint/RescueException
      tell("the block of on_error", e)
    end

    def tell(who, error)
      warn("commnet: #{who} of #{@name} has raised: #{error.full_message}")
    rescue IOError, SystemCallError
      nil # nobody can be told
    end
  end

  private_constant :Guard
end
