# frozen_string_literal: true

# Gradients that are checked against differences.
module OneFlow
  # Compares the gradients of a block with central differences of its values.
  class Gradcheck
    def initialize(block, inputs, eps, atol, rtol)
      @block = block
      @inputs = Autograd.input_list("gradcheck", inputs)
      { eps:, atol:, rtol: }.each do |name, value|
        next if Numeric === value

        raise TypeMismatch, "gradcheck: #{name} must be Numeric, got #{Autograd.type_description(value)}"
      end
      @eps = eps
      @atol = atol
      @rtol = rtol
      @inputs.each_with_index { |input, position| check_dtype(input, position) }
    end

    # Returns a description of the first gradient that differs; nil if there is none.
    def mismatch
      count = OneFlow.enable_grad { results(@inputs) }.length
      wanted = @inputs.each_index.select { |input| @inputs[input].requires_grad? && @inputs[input].size.positive? }
      count.times do |result|
        found = OneFlow.jacobian(@inputs) { |*args| results(args)[result] }
        wanted.each do |input|
          text = difference(found[input], differences(input, result))
          return "the gradient of result #{result} for input #{input} #{text}" if text
        end
      end
      nil
    end

    private

    def check_dtype(input, position)
      return if !input.requires_grad? || input.dtype == :float64

      raise TypeMismatch, "gradcheck: input #{position} must be float64 for accurate differences, got #{input.dtype}"
    end

    # Returns the results of a call as an Array.
    def results(inputs) = Autograd.returned_list("gradcheck", "the block", @block.call(*inputs))

    # Returns the differences of a result for an input, of shape [elements of the result, elements of the input].
    def differences(input, result)
      columns = Array.new(@inputs[input].size) do |element|
        high, low = [@eps, -@eps].map { |step| value(moved(input, element, step), result) }
        (high - low) / (2 * @eps)
      end
      OneFlow.stack(columns, dim: 1)
    end

    # Returns copies of the inputs, in one of which an element is moved by a step.
    def moved(input, element, step)
      copies = @inputs.map { |each| OneFlow.clone(each.detach) }
      OneFlow.reshape(copies[input], [-1])[element].add!(step)
      copies.zip(@inputs).map { |copy, given| copy.requires_grad!(given.requires_grad?) }
    end

    def value(inputs, result)
      OneFlow.reshape(OneFlow.enable_grad { results(inputs) }[result].detach, [-1])
    end

    def difference(found, expected)
      gradient = OneFlow.reshape(found, expected.shape)
      distance = (gradient - expected).abs
      return if (distance <= (expected.abs * @rtol) + @atol).all.item

      "differs by up to #{format("%g", distance.max.item)}\ngradient: #{gradient}\ndifferences: #{expected}"
    end
  end
  private_constant :Gradcheck

  # Compares the gradients of a block of float64 tensors with central differences of its values. Raises InvalidArgument
  # for a difference above `atol + rtol * |difference quotient|`, or, unless `raise_exception`, returns false.
  def self.gradcheck(inputs, eps: 1e-6, atol: 1e-5, rtol: 1e-3, raise_exception: true, &block)
    Autograd.given_block("gradcheck", block)
    mismatch = Gradcheck.new(block, inputs, eps, atol, rtol).mismatch
    raise InvalidArgument, "gradcheck: #{mismatch}" if mismatch && raise_exception

    mismatch.nil?
  end
end
