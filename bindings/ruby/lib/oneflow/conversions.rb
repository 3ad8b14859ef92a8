# frozen_string_literal: true

module OneFlow
  PI = Math::PI
  E = Math::E
  INF = Float::INFINITY
  NAN = Float::NAN
  # A new dimension in an index: `x[OneFlow::NEWAXIS]`.
  NEWAXIS = nil

  # Conversions to a dtype or to the host, as PyTorch names them, and transposed tensors.
  class Tensor
    DTYPE_METHODS.each do |name, dtype|
      define_method(name) { self.dtype == dtype ? self : cast(dtype) }
    end

    # HOST is the name of the host's device; the method that copies to it has the name of its type.
    define_method(HOST.partition(":").first) { device == HOST ? self : to_device(HOST) }

    alias rank ndim

    # Returns a view with the dimensions in reverse order.
    def T = permute((0...ndim).to_a.reverse) # rubocop:disable Naming/MethodName

    # Returns a view with the last two dimensions swapped. Raises ShapeError for fewer than two dimensions.
    def mT = matrix_transposed("mT") # rubocop:disable Naming/MethodName

    # Returns the conjugate of `mT`. Raises ShapeError for fewer than two dimensions.
    def H = matrix_transposed("H").conj # rubocop:disable Naming/MethodName

    private

    def matrix_transposed(name)
      raise ShapeError, "#{name}: input must have at least 2 dimensions, got #{ndim}" if ndim < 2

      transpose(-2, -1)
    end
  end
end
