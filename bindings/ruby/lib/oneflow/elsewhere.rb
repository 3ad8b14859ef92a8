# frozen_string_literal: true

# Errors for names that nothing has here.
module OneFlow
  # Errors for the names of other libraries, which say the names here.
  module Elsewhere
    # Puts suggestions that only read before those that change what they are called on.
    module ReadersFirst
      def corrections = super.partition { |name| !name.end_with?("!", "=") }.flatten(1)
    end

    # Calls the block, which calls `method_missing` of the superclass, and makes its error say what `texts` have of the
    # name. `receiver` is the word for what the method is missing of.
    def self.explaining(texts, name, receiver)
      yield
    rescue NoMethodError => e
      text = texts[name.name]
      e = e.exception("undefined method `#{name}' for #{receiver}; #{text}") if text
      raise e.extend(ReadersFirst)
    end
  end
  private_constant :Elsewhere

  class << self
    private

    def method_missing(name, ...)
      Elsewhere.explaining(FUNCTIONS_ELSEWHERE, name, "OneFlow") { super }
    end

    # Without it, every implicit conversion would call `method_missing`.
    def respond_to_missing?(_name, _include_all) = false

    def const_missing(name)
      text = FUNCTIONS_ELSEWHERE[name.name]
      return super unless text

      raise NameError.new("uninitialized constant OneFlow::#{name}; #{text}", name, receiver: self)
    end
  end

  # Errors for methods that tensors lack.
  class Tensor
    private

    def method_missing(name, ...)
      Elsewhere.explaining(METHODS_ELSEWHERE, name, "a Tensor") { super }
    end

    # Without it, every implicit conversion would call `method_missing`.
    def respond_to_missing?(_name, _include_all) = false
  end
end
