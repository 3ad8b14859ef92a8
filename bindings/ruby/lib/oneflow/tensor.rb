# frozen_string_literal: true

module OneFlow
  # An array of numbers of one dtype, with any number of dimensions up to 32.
  class Tensor
    # The dtypes that a literal in the text of `inspect` gives by itself.
    NATURAL_DTYPES = %i[int64 float32 bool].freeze
    # How many elements of a vector `each` makes numbers of at a time.
    CHUNK = 1024
    private_constant :NATURAL_DTYPES, :CHUNK

    # The size of the first dimension. Raises ShapeError for a tensor without dimensions.
    def length
      shape.first or raise ShapeError, "length: a tensor with 0 dimensions has no length"
    end

    def empty? = size.zero?

    # Yields what lies along the first dimension: numbers (or true and false) for a vector, else tensors that share this
    # tensor's memory. Returns self, or an Enumerator without a block.
    def each(&block)
      return to_enum(:each) { length } unless block

      ndim == 1 ? each_number(&block) : length.times { |i| yield self[i] }
      self
    end

    def +@ = self

    # The only element as a Float, as an Integer (towards zero); true counts as 1.
    def to_f = number.to_f

    def to_i = number.to_i

    # Same shape, same dtype and the same bytes: unlike with `==`, a NaN is itself, and -0.0 is not 0.0.
    def eql?(other)
      case other
      when Tensor then dtype == other.dtype && shape == other.shape && to_binary == other.to_binary
      else false
      end
    end

    def hash = [Tensor, dtype, shape, to_binary].hash

    # `tensor([[1., 2.]])`, with the dtype, the shape and the device where the numbers do not tell them.
    def inspect
      facts = []
      facts << "shape: #{shape}" if empty? && shape != [0]
      facts << "dtype: :#{dtype}" if empty? || !NATURAL_DTYPES.include?(dtype)
      facts << "device: \"#{device}\"" if device != OneFlow.default_device
      "tensor(#{[format_elements(7), *facts].join(", ")})"
    end
    alias to_s inspect

    def marshal_dump = [dtype, shape, to_binary]

    def marshal_load(state)
      dtype, shape, data = state
      initialize_copy(OneFlow.from_binary(data, dtype:, shape:))
    end

    # For `case tensor in [first, *rest]`: what `each` yields.
    def deconstruct = ndim.zero? ? [] : entries

    # For `case tensor in {dtype: :float32, shape: [_, _]}`.
    def deconstruct_keys(_names) = { dtype:, shape:, ndim:, device: }

    private

    # The numbers that a vector has when this begins, whatever the block writes.
    def each_number(&)
      numbers = dup
      until numbers.empty?
        numbers[...CHUNK].to_a.each(&)
        numbers = numbers[CHUNK..]
      end
    end

    def number
      value = item
      { true => 1, false => 0 }.fetch(value, value)
    end
  end
end
