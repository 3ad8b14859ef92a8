# frozen_string_literal: true

module OneFlow
  # An array of numbers of one dtype, with any number of dimensions up to 32.
  class Tensor
    # The dtypes that a literal in the text of `inspect` gives by itself.
    NATURAL_DTYPES = %i[int64 float32 bool].freeze
    private_constant :NATURAL_DTYPES

    # The size of the first dimension. Raises ShapeError for a tensor without dimensions.
    def length
      shape.first or raise ShapeError, "length: a tensor with 0 dimensions has no length"
    end

    # Yields what lies along the first dimension: numbers (or true and false) for a vector, else tensors that share this
    # tensor's memory. Returns self, or an Enumerator without a block.
    def each(&block)
      return to_enum(:each) { length } unless block

      ndim == 1 ? to_a.each(&block) : length.times { |i| yield self[i] }
      self
    end

    # The only element as a Float, as an Integer (towards zero).
    def to_f = item.to_f

    def to_i = item.to_i

    # Same shape, same dtype and the same bytes: unlike with `==`, a NaN is itself, and -0.0 is not 0.0.
    def eql?(other)
      other.is_a?(Tensor) && dtype == other.dtype && shape == other.shape && to_binary == other.to_binary
    end

    def hash = [Tensor, dtype, shape, to_binary].hash

    # `tensor([[1., 2.]])`, with the dtype, the shape and the device where the numbers do not tell them.
    def inspect
      facts = []
      facts << "shape: #{shape}" if size.zero? && shape != [0]
      facts << "dtype: :#{dtype}" if size.zero? || !NATURAL_DTYPES.include?(dtype)
      facts << "device: \"#{device}\"" if device != OneFlow.default_device
      "tensor(#{[format_elements(7), *facts].join(", ")})"
    end
    alias to_s inspect

    def marshal_dump = [dtype, shape, to_binary]

    def marshal_load(state)
      dtype, shape, data = state
      initialize_copy(OneFlow.from_binary(data, dtype:, shape:))
    end

    # For `case tensor in {dtype: :float32, shape: [_, _]}`.
    def deconstruct_keys(_names) = { dtype:, shape:, ndim:, device: }
  end
end
