# frozen_string_literal: true

module OneFlow
  # An array of numbers of one dtype, with 0 to 32 dimensions.
  class Tensor
    # The number of elements of a vector that `each` converts to Ruby numbers at a time.
    CHUNK = 1024
    private_constant :CHUNK

    # Creates a tensor from its rows: `Tensor[[1, 2], [3, 4]]`, as `OneFlow.tensor([[1, 2], [3, 4]])` does.
    def self.[](*rows) = OneFlow.tensor(rows)

    # Returns the size of the first dimension. Raises ShapeError for a tensor with 0 dimensions.
    def length
      shape.first or raise ShapeError, "length: a tensor with 0 dimensions has no length"
    end

    # Returns whether the tensor has no elements.
    def empty? = size.zero?

    # Iterates over the first dimension. A vector yields its elements as numbers (or true and false), a tensor with more
    # dimensions yields views. Returns self, or an Enumerator if no block is given. Raises ShapeError for a tensor with
    # 0 dimensions.
    def each(&block)
      return to_enum(:each) { length } unless block

      ndim == 1 ? each_number(&block) : length.times { |i| yield self[i] }
      self
    end

    # Returns the tensor itself.
    def +@ = self

    # Returns the only element as a Float; true is 1.0. Raises InvalidArgument unless the tensor has exactly one element
    # and DTypeError for a complex tensor.
    def to_f = number_of(real_item).to_f

    # Returns the only element as an Integer, truncated towards zero; true is 1. Raises the same errors as `to_f`.
    def to_i = number_of(real_item).to_i

    # Returns the only element as a Complex number; true is 1. Raises InvalidArgument unless the tensor has exactly one
    # element.
    def to_c = number_of(item).to_c

    # Returns whether `other` is a tensor with the same shape, dtype and bytes. Unlike with `==`, NaN equals itself and
    # -0.0 differs from 0.0.
    def eql?(other)
      case other
      when Tensor then dtype == other.dtype && shape == other.shape && to_binary == other.to_binary
      else false
      end
    end

    # Returns a hash of the dtype, the shape and the bytes, equal for tensors that are `eql?`.
    def hash = [Tensor, dtype, shape, to_binary].hash

    # The largest String that Marshal is given: it cannot write the length of one of 2 GiB.
    MARSHAL_BYTES = 2**30
    private_constant :MARSHAL_BYTES

    # Returns the dtype, the shape, whether a gradient is wanted, and the packed elements, in one or more Strings, for
    # Marshal.
    def marshal_dump(bytes = MARSHAL_BYTES)
      data = to_binary
      starts = data.empty? ? [0] : (0...data.bytesize).step(bytes)
      [dtype, shape, requires_grad?, *starts.map { |start| data.byteslice(start, bytes) }]
    end

    # Initialises an empty tensor from what `marshal_dump` returned. Raises InvalidArgument if the tensor has a value.
    def marshal_load(state)
      dtype, shape, *data = state
      wanted = data.first == true
      first, *others = data.grep(String)
      initialize_copy(OneFlow.from_binary(others.empty? ? first : [first, *others].join, dtype:, shape:))
      requires_grad!(wanted) if wanted
    end

    # Writes the tensor to a YAML coder.
    def encode_with(coder)
      coder["state"] = marshal_dump
    end

    # Initialises an empty tensor from a YAML coder.
    def init_with(coder) = marshal_load(coder["state"])

    # Returns the elements as nested JSON arrays. Requires the library json.
    def to_json(*options) = to_a.to_json(*options)

    # Returns an Array of what `each` yields, empty for a tensor with 0 dimensions, for pattern matching:
    # `case tensor in [first, *rest]`.
    def deconstruct = ndim.zero? ? [] : entries

    # Returns the properties of the tensor for pattern matching: `case tensor in {dtype: :float32, shape: [_, _]}`.
    def deconstruct_keys(_names) = { dtype:, shape:, ndim:, device: }

    private

    # Yields the elements that a vector has at the start of the call, even if the block writes to the vector: the chunks
    # come from a copy-on-write duplicate.
    def each_number(&)
      return to_a.each(&) if length <= CHUNK

      numbers = dup
      until numbers.empty?
        numbers[...CHUNK].to_a.each(&)
        numbers = numbers[CHUNK..]
      end
    end

    # Returns the element with true and false replaced by 1 and 0.
    def number_of(element) = { true => 1, false => 0 }.fetch(element, element)
  end
end
