# frozen_string_literal: true

module OneFlow
  # An array of numbers of one dtype, with any number of dimensions up to 32.
  class Tensor
    # How many elements of a vector `each` makes numbers of at a time.
    CHUNK = 1024
    private_constant :CHUNK

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

    # The only element as a Float, as an Integer (towards zero), as a Complex number; true counts as 1. Complex tensors
    # have neither of the first two: DTypeError.
    def to_f = number_of(real_item).to_f

    def to_i = number_of(real_item).to_i

    def to_c = number_of(item).to_c

    # Same shape, same dtype and the same bytes: unlike with `==`, a NaN is itself, and -0.0 is not 0.0.
    def eql?(other)
      case other
      when Tensor then dtype == other.dtype && shape == other.shape && to_binary == other.to_binary
      else false
      end
    end

    def hash = [Tensor, dtype, shape, to_binary].hash

    def marshal_dump = [dtype, shape, to_binary]

    def marshal_load(state)
      dtype, shape, data = state
      initialize_copy(OneFlow.from_binary(data, dtype:, shape:))
    end

    # For YAML.
    def encode_with(coder)
      coder["state"] = marshal_dump
    end

    def init_with(coder) = marshal_load(coder["state"])

    # Nested arrays of numbers, with the library json.
    def to_json(*options) = to_a.to_json(*options)

    # For `case tensor in [first, *rest]`: what `each` yields.
    def deconstruct = ndim.zero? ? [] : entries

    # For `case tensor in {dtype: :float32, shape: [_, _]}`.
    def deconstruct_keys(_names) = { dtype:, shape:, ndim:, device: }

    private

    # The numbers that a vector has when this begins, whatever the block writes.
    def each_number(&)
      return to_a.each(&) if length <= CHUNK

      numbers = dup
      until numbers.empty?
        numbers[...CHUNK].to_a.each(&)
        numbers = numbers[CHUNK..]
      end
    end

    def number_of(element) = { true => 1, false => 0 }.fetch(element, element)
  end
end
