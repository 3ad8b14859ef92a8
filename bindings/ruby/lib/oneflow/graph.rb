# frozen_string_literal: true

module OneFlow
  # A program of calls of operators with its constants: a block that was captured once, and that is saved with its
  # weights and runs without the code that made it. It does not change, and threads and Ractors may share it.
  #
  #     weight = OneFlow.tensor([[1.0, 2.0], [3.0, 4.0]])
  #     graph = OneFlow::Graph.capture(OneFlow.ones(1, 2), dynamic: :batch) { |x| (x.matmul(weight) - 5).relu }
  #     graph.(OneFlow.ones(3, 2)).shape # => [3, 2]
  class Graph
    # An input, an output or a constant of a graph. Its shape has a String for each size, which says how it follows from
    # the named sizes: "64", "batch", "(time + 1)/2"; "?" if that is not known.
    ValueInfo = Struct.new(:name, :dtype, :device, :shape)

    # The parts of a graph, as the C API numbers them.
    INPUT = 0
    OUTPUT = 1
    CONSTANT = 2
    private_constant :INPUT, :OUTPUT, :CONSTANT

    # Captures a block of tensors as a graph. The block is called, but nothing is computed but shapes.
    def self.capture(example_inputs, dynamic: nil, ranges: nil, weights: nil, &block)
      raise TypeMismatch, "capture: missing block" unless block

      capture = Capture.of(example_inputs, block, dynamic, ranges)
      capture.name_constants(weights)
      capture.record(block).__send__(:prepare)
    end

    # Loads a graph that `save` has written.
    def self.load(path, verify: false, mmap: false)
      flags = { verify:, mmap: }.map { |name, flag| Nodes.flag(:load, name, flag) }
      read(Nodes.path(:load, path), *flags).__send__(:prepare)
    end

    # Runs the graph with arguments as those of the captured block, and returns what that has returned; with `states`
    # also a Hash of the new states.
    def call(*arguments, states: false, generator: nil, **named)
      Nodes.flag(:run, :states, states)
      tensors = run(tensors_of(:run, arguments, named), generator_or_nil(generator))
      result = Nodes.restore(@outputs.dup, tensors)
      states ? [result, @states.zip(tensors).to_h] : result
    end

    # Returns `call` as a Proc: `batches.map(&graph)`.
    def to_proc = method(:call).to_proc

    # Returns the tensors that the graph takes. The name of a nested one joins its keys: "cache.0".
    def inputs = infos(INPUT)

    # Returns the tensors that the graph returns, without `states`.
    def outputs = infos(OUTPUT).first(@returned)

    # Returns the tensors to which the captured block has written: inputs or constants, which the graph copies.
    def states = infos(OUTPUT).drop(@returned)

    # Returns the tensors that the graph holds, by their names.
    def constants = values(CONSTANT).each_with_index.to_h { |(name, *), i| [name, constant(i)] }

    # Returns the named sizes, with the values that they can have: Ranges or arithmetic sequences.
    def sizes = named_sizes.to_h { |name, *bounds| [name, NamedSizes.range(*bounds)] }

    # Saves the graph to a file: a safetensors file, whose tensors are the constants.
    def save(path)
      write(Nodes.path(:save, path))
    end

    # Returns `#<OneFlow::Graph(x: float32[batch, 2]) of 3 calls>`.
    def inspect
      arguments = inputs.map { |input| "#{input.name}: #{input.dtype}[#{input.shape.join(", ")}]" }
      "#<#{self.class}(#{arguments.join(", ")}) of #{call_count} call#{"s" unless call_count == 1}>"
    end

    private

    # Reads what each call needs, and freezes the graph.
    def prepare(report = nil)
      @report = report
      @inputs = nodes(INPUT).map { |node| node.first(3) }
      @outputs = nodes(OUTPUT)
      @returned = @outputs.count { |kind, *| kind == Nodes::TENSOR }
      @states = values(OUTPUT).drop(@returned).map(&:first)
      @names = argument_names
      Ractor.make_shareable(self)
    end

    # Returns the keys of the items of the first node.
    def argument_names
      waiting = 0
      @inputs.drop(1).filter_map do |_, count, key|
        is_argument = waiting.zero?
        waiting += count - (is_argument ? 0 : 1)
        key if is_argument
      end
    end

    def infos(part) = values(part).map { |value| ValueInfo.new(*value) }

    # Returns the tensors of arguments in the order of `inputs`.
    def tensors_of(method, arguments, named)
      nodes = Nodes.of(method, "the arguments", bind(arguments, named))
      unless nodes.map { |node| node.first(3) } == @inputs
        raise TypeMismatch, "#{method}: the arguments are nested in another way than at the capture; see inputs"
      end

      nodes.filter_map(&:last)
    end

    # Returns the arguments by their names, in the order of the captured block.
    def bind(arguments, named)
      count = @names.size
      raise TypeMismatch, "run: the graph takes #{count} arguments, got #{arguments.size}" if arguments.size > count

      given = @names.zip(arguments).first(arguments.size).to_h
      named.each { |name, value| add_argument(given, name.to_s, value) }
      @names.to_h do |name|
        [name, given.fetch(name) { raise TypeMismatch, "run: missing argument '#{name}'" }]
      end
    end

    def add_argument(given, name, value)
      unless @names.include?(name)
        raise TypeMismatch, "run: there is no argument '#{name}'; the graph takes #{@names.join(", ")}"
      end
      raise TypeMismatch, "run: the argument '#{name}' is given twice" if given.include?(name)

      given[name] = value
    end

    def generator_or_nil(value)
      case value
      when Generator, nil then value
      else raise TypeMismatch, "run: generator must be Generator or nil, got #{Autograd.class_of(value)}"
      end
    end
  end
end
