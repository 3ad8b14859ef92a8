# frozen_string_literal: true

# Comparisons of whole tensors, whose result is true or false.
module OneFlow
  # Returns whether all elements are close to each other, as `isclose` compares them; waits for the device.
  def self.allclose(...) = isclose(...).all.item

  # Returns whether shape, dtype and all elements are equal; waits for the device. NaN is not equal to itself.
  def self.equal(input, other)
    first, second = [input, other].map { |each| Tensor === each ? each : tensor(each) }
    first == second
  end

  # An array of numbers of one dtype.
  class Tensor
    # Returns whether all elements are close to those of `other`, as `isclose` compares them; waits for the device.
    def allclose(...) = isclose(...).all.item
  end
end
