# frozen_string_literal: true

module OneFlow
  # A capture of a block that is under way; see Graph.capture.
  class Capture
    class << self
      # Starts the capture of a block.
      def of(example_inputs, block, dynamic, ranges)
        arguments = Array === example_inputs ? example_inputs : [example_inputs]
        examples = parameters(block, arguments.size).zip(arguments).to_h
        nodes = Nodes.of(:capture, "example_inputs", examples)
        tensors = nodes.filter_map(&:last)
        dimensions = NamedSizes.dimensions(dynamic, Nodes.names(nodes.dup), tensors)
        sizes = dimensions.map(&:last).uniq
        numbered = dimensions.map { |number, dim, size| [number, dim, sizes.index(size)] }
        start(nodes, sizes, NamedSizes.ranges(sizes, ranges), numbered).prepare(examples.values, tensors.size)
      end

      private

      # Returns the names of the first `count` parameters of a block, or `input0`, `input1` if they have none of their
      # own.
      def parameters(block, count)
        names = block.parameters.filter_map { |kind, name| name.to_s if %i[req opt].include?(kind) }.first(count)
        has_names = names.size == count && names.uniq == names && names.grep(/\A(_\d)?\z/).empty?
        has_names ? names : Array.new(count) { |i| "input#{i}" }
      end
    end

    # Sets the positional arguments of the block, and how many tensors are in them. The Hashes and Arrays are copied,
    # because the block may change them.
    def prepare(examples, count)
      @examples = Nodes.map(examples, &:itself)
      @count = count
      self
    end

    # Names the tensors of nested data.
    def name_constants(weights)
      nodes = Nodes.of(:capture, "weights", Nodes.optional_hash(:capture, :weights, weights))
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
