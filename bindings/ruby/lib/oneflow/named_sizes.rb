# frozen_string_literal: true

module OneFlow
  # The sizes that vary in a graph; see Graph.capture and Onnx.load.
  module NamedSizes
    LARGEST = (2**63) - 1

    module_function

    # Returns [number of an input, dimension, name of its size] for all dimensions that vary.
    def dimensions(dynamic, names, tensors)
      case dynamic
      when nil then []
      when Hash then dynamic.flat_map { |key, dims| dimensions_of(input_number(key, names), key, dims) }
      else first_dimensions(only_name(dynamic), tensors)
      end
    end

    # Returns [minimum, maximum, step] of each size.
    def ranges(sizes, ranges)
      given = Nodes.optional_hash(:capture, :ranges, ranges)
      given = given.transform_keys { |name| Nodes.text("capture: a key of ranges", name) }
      unknown = (given.keys - sizes).first
      raise InvalidArgument, "capture: ranges has '#{unknown}', which no dimension has in dynamic" if unknown

      sizes.map { |size| bounds("capture: ranges['#{size}']", given.fetch(size, 1..)) }
    end

    # Returns the values of a size: a Range or an arithmetic sequence.
    def range(minimum, maximum, step)
      range = maximum > LARGEST - step ? (minimum..) : (minimum..maximum)
      step == 1 ? range : range % step
    end

    def only_name(dynamic)
      return dynamic if String === dynamic || Symbol === dynamic
      return dynamic.first if Array === dynamic && dynamic.size == 1

      raise TypeMismatch, "capture: dynamic must be one name for the first dimension of all inputs, or a Hash of the " \
                          "inputs' dimensions, got #{Array === dynamic ? dynamic : Autograd.class_of(dynamic)}"
    end

    def first_dimensions(size, tensors)
      numbers = tensors.each_index.reject { |number| tensors[number].ndim.zero? }
      numbers.map { |number| dimension(number, 0, size) }
    end

    def input_number(key, names)
      number = Symbol === key || String === key ? names.index(key.to_s) : key
      return number if Integer === number && number.between?(0, names.size - 1)

      raise InvalidArgument, "capture: dynamic has no input #{key.inspect}; there are #{names.join(", ")}"
    end

    def dimensions_of(number, key, dims)
      pairs = case dims
              when Hash then dims.to_a
              when Array then dims.each_index.zip(dims)
              else
                found = Autograd.class_of(dims)
                raise TypeMismatch, "capture: dynamic[#{key.inspect}] must be Hash or Array, got #{found}"
              end
      pairs.filter_map { |dim, size| dimension(number, dim, size) unless nil.equal?(size) }
    end

    def dimension(number, dim, size)
      if Integer === dim && dim.bit_length < 32 && (String === size || Symbol === size)
        return [number, dim, Nodes.text("capture: a size", size)]
      end

      raise TypeMismatch, "capture: dynamic must give names of sizes by dimension, got #{size.inspect} for " \
                          "#{dim.inspect}"
    end

    # Returns the minimum, the maximum and the step of a size. `what` begins error texts.
    def bounds(what, values)
      minimum, maximum, step = numbers_in(values)
      if [minimum, maximum, step].all?(Integer) && step.between?(1, LARGEST) && minimum.between?(0, maximum)
        return [minimum, maximum - ((maximum - minimum) % step), step]
      end

      raise TypeMismatch, "#{what} must be a Range or an arithmetic sequence of sizes that is not empty, got " \
                          "#{values.inspect}"
    end

    def numbers_in(values)
      case values
      when Range then [values.begin, last_of(values), 1]
      when Enumerator::ArithmeticSequence then [values.begin, last_of(values), values.step]
      end
    end

    def last_of(values)
      last = values.end || LARGEST
      last -= 1 if Integer === values.end && values.exclude_end?
      Integer === last ? [last, LARGEST].min : last
    end

    private_class_method :only_name, :first_dimensions, :input_number, :dimensions_of, :dimension, :numbers_in, :last_of
  end
  private_constant :NamedSizes
end
