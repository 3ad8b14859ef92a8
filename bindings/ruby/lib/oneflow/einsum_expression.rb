# frozen_string_literal: true

module OneFlow
  # An einsum equation with a contraction plan for operands of fixed shapes. It is immutable: threads and Ractors may
  # share it.
  class EinsumExpression
    alias [] call

    # Returns `call` as a Proc: `pairs.map(&expression)`.
    def to_proc = method(:call).to_proc

    # Returns a Proc that calls this expression and passes its result to `other`, as Proc and Method do.
    def >>(other) = to_proc >> other

    # Returns a Proc that calls `other` and passes its result to this expression.
    def <<(other) = to_proc << other

    # Returns `#<OneFlow::EinsumExpression "ij,jk->ik" of shapes [[2, 3], [3, 4]]>`.
    def inspect = "#<#{self.class} #{equation.inspect} of shapes #{shapes}>"
    alias to_s inspect
  end
end
