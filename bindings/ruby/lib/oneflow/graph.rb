# frozen_string_literal: true

module OneFlow
  # What Ruby has of its own for graphs.
  class Graph
    # Returns `call` as a Proc: `batches.map(&graph)`.
    def to_proc = method(:call).to_proc

    # Returns `#<OneFlow::Graph(x: float32[batch, 2]) of 3 calls>`.
    def inspect
      arguments = inputs.map { |input| "#{input.name}: #{input.dtype}[#{input.shape.join(", ")}]" }
      "#<#{self.class}(#{arguments.join(", ")}) of #{call_count} call#{"s" unless call_count == 1}>"
    end
  end
end
