# frozen_string_literal: true

module OneFlow
  # An einsum equation that was worked out for operands of some shapes.
  class EinsumExpression
    alias [] call

    # For `pairs.map(&expression)`.
    def to_proc = method(:call).to_proc

    # Both in turn, as with Proc and Method: `f >> g` calls `g` with what `f` gives, `f << g` the other way round.
    def >>(other) = to_proc >> other
    def <<(other) = to_proc << other

    # `#<OneFlow::EinsumExpression "ij,jk->ik" of shapes [[2, 3], [3, 4]]>`
    def inspect = "#<#{self.class} #{equation.inspect} of shapes #{shapes}>"
    alias to_s inspect
  end
end
