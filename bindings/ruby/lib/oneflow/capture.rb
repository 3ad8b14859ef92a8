# frozen_string_literal: true

module OneFlow
  # A capture of a block that is under way; see Graph.capture.
  class Capture
    LARGEST_SIZE = (2**63) - 1

    class << self
      # Starts the capture of a block.
      def of(example_inputs, block, dynamic, ranges)
        arguments = Array === example_inputs ? example_inputs : [example_inputs]
        examples = parameters(block, arguments.size).zip(arguments).to_h
        nodes = Nodes.of(:capture, "example_inputs", examples)
        tensors = nodes.filter_map(&:last)
        dimensions = dimensions(dynamic, Nodes.names(nodes.dup), tensors)
        sizes = dimensions.map(&:last).uniq
        numbered = dimensions.map { |number, dim, size| [number, dim, sizes.index(size)] }
        start(nodes, ranges_of(ranges, sizes), numbered).prepare(examples.values, tensors.size)
      end

      private

      # Returns the names of the first `count` parameters of a block, or `input0`, `input1` if they have none of their
      # own.
      def parameters(block, count)
        names = block.parameters.filter_map { |kind, name| name.to_s if %i[req opt].include?(kind) }.first(count)
        has_names = names.size == count && names.uniq == names && names.grep(/\A(_\d)?\z/).empty?
        has_names ? names : Array.new(count) { |i| "input#{i}" }
      end

      # Returns [number of an input, dimension, name of its size] for all dimensions that vary.
      def dimensions(dynamic, names, tensors)
        case dynamic
        when nil then []
        when Hash then dynamic.flat_map { |key, dims| dimensions_of(key, dims, names) }
        when String, Symbol then first_dimensions(dynamic, tensors)
        else
          return first_dimensions(dynamic.first, tensors) if Array === dynamic && dynamic.size == 1

          raise TypeMismatch, "capture: dynamic must be one name for the first dimension of all inputs, or a Hash of " \
                              "the inputs' dimensions, got #{Array === dynamic ? dynamic : Autograd.class_of(dynamic)}"
        end
      end

      def first_dimensions(size, tensors)
        numbers = tensors.each_index.reject { |number| tensors[number].ndim.zero? }
        numbers.map { |number| dimension(number, 0, size) }
      end

      def dimensions_of(key, dims, names)
        number = Symbol === key || String === key ? names.index(key.to_s) : key
        unless Integer === number && number.between?(0, names.size - 1)
          raise InvalidArgument, "capture: dynamic has no input #{key.inspect}; there are #{names.join(", ")}"
        end
        unless Hash === dims || Array === dims
          raise TypeMismatch, "capture: dynamic[#{key.inspect}] must be Hash or Array, got #{Autograd.class_of(dims)}"
        end

        pairs = Hash === dims ? dims.to_a : dims.each_with_index.map { |size, dim| [dim, size] }
        pairs.filter_map { |dim, size| dimension(number, dim, size) unless nil.equal?(size) }
      end

      def dimension(number, dim, size)
        unless Integer === dim && dim.bit_length < 32 && (String === size || Symbol === size)
          raise TypeMismatch, "capture: dynamic must give names of sizes by dimension, got #{size.inspect} for " \
                              "#{dim.inspect}"
        end

        [number, dim, Nodes.text("capture: a size", size)]
      end

      # Returns [name, minimum, maximum, step] of each size.
      def ranges_of(ranges, sizes)
        unless Hash === ranges || nil.equal?(ranges)
          raise TypeMismatch, "capture: ranges must be Hash or nil, got #{Autograd.class_of(ranges)}"
        end

        given = (ranges || {}).transform_keys { |name| Nodes.text("capture: a key of ranges", name) }
        given.each_key do |name|
          next if sizes.include?(name)

          raise InvalidArgument, "capture: ranges has '#{name}', which no dimension has in dynamic"
        end
        sizes.map { |size| [size, *bounds(size, given.fetch(size, 1..))] }
      end

      # Returns the minimum, the maximum and the step of a size.
      def bounds(size, values)
        minimum, maximum, step = numbers_in(values)
        if [minimum, maximum, step].all?(Integer)
          maximum = [maximum, LARGEST_SIZE].min
          return [minimum, maximum - ((maximum - minimum) % step), step] if step.positive? && minimum.between?(0, maximum)
        end

        raise TypeMismatch, "capture: ranges['#{size}'] must be a Range or an arithmetic sequence of sizes that is " \
                            "not empty, got #{values.inspect}"
      end

      def numbers_in(values)
        case values
        when Range, Enumerator::ArithmeticSequence
          last = values.end || LARGEST_SIZE
          last -= 1 if values.exclude_end? && Integer === values.end
          [values.begin, last, Range === values ? 1 : values.step]
        end
      end
    end

    # Sets the positional arguments of the block, and how many tensors are in them. They are copied, because the block
    # may change them.
    def prepare(examples, count)
      @examples = Nodes.map(examples, &:itself)
      @count = count
      self
    end

    # Names the tensors of nested data.
    def name_constants(weights)
      return if nil.equal?(weights)
      unless Hash === weights
        raise TypeMismatch, "capture: weights must be Hash or nil, got #{Autograd.class_of(weights)}"
      end

      nodes = Nodes.of(:capture, "weights", weights)
      Nodes.names(nodes.dup).zip(nodes.filter_map(&:last)) { |name, tensor| name_constant(tensor, name) }
    end

    # Calls the block for each run that the capture needs, and returns the graph.
    def record(block)
      while (tensors = begin_run(@count))
        arguments = Nodes.map(@examples) { tensors.shift }
        end_run(Nodes.of(:capture, "the result", block.call(*arguments)))
      end
      finish
    ensure
      cancel
    end
  end
  private_constant :Capture
end
