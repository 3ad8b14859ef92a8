# frozen_string_literal: true

module OneFlow
  # Gradients of functions, gradient modes, checkpoints and functions with gradients of their own.
  #
  #     x = OneFlow.tensor([1.0, 2.0]).requires_grad!
  #     (x * x).sum.backward
  #     x.grad # => tensor([2., 4.])
  module Autograd
    # A hook of a tensor, which `remove` removes.
    class HookHandle
      def initialize(hook)
        @hook = hook
      end

      # Removes the hook.
      def remove = Autograd.remove_hook(@hook)
    end

    # What `forward` keeps for `backward`.
    class Context
      attr_accessor :needs_input_grad

      # Keeps tensors, which must not be changed in place before `backward` reads them.
      def save_for_backward(*tensors)
        @saved = tensors.map { |tensor| [tensor, tensor&.version] }
      end

      # Returns the kept tensors. Raises InvalidArgument if one was changed in place.
      def saved_tensors
        (@saved || []).map do |tensor, version|
          next tensor if tensor.nil? || tensor.version == version

          raise InvalidArgument, "saved_tensors: a tensor of shape #{tensor.shape} was changed in place: it is at " \
                                 "version #{tensor.version}, but was saved at version #{version}"
        end
      end
    end

    # A function with a gradient of its own: subclasses define the class methods `forward(context, *args)`, which
    # computes the result without recording, and `backward(context, *grads)`, which returns a gradient or nil for each
    # argument. Call it by `apply(*args)`.
    class Function
      class << self
        def forward(_context, *_args) = raise(Unsupported, "#{name}: a Function must define forward")

        def backward(_context, *_grads) = raise(Unsupported, "#{name}: a Function must define backward")

        # Calls `forward`, and records the call.
        def apply(*args)
          context = Context.new
          context.needs_input_grad = args.map { |each| each.is_a?(Tensor) && each.requires_grad? }
          results = OneFlow.no_grad { forward(context, *args) }
          outputs = Array(results.is_a?(Tensor) ? [results] : results)
          outputs = outputs.map { |each| args.any? { |arg| arg.equal?(each) } ? each.detach : each }
          inputs = args.grep(Tensor)
          Autograd.record_function(name || "Function", inputs, outputs.grep(Tensor), gradients_of(args, context))
          results.is_a?(Tensor) ? outputs.first : outputs
        end

        private

        # Returns what a backward pass calls: a function from gradients of the results to those of the tensors.
        def gradients_of(args, context)
          lambda do |grads, _wanted|
            found = backward(context, *grads)
            found = [found] unless found.is_a?(Array)
            unless found.length == args.length
              raise InvalidArgument, "#{name}: backward must return a gradient or nil for each of #{args.length} " \
                                     "arguments, got #{found.length}"
            end
            args.zip(found).filter_map { |arg, grad| [grad] if arg.is_a?(Tensor) }.flatten(1)
          end
        end
      end
    end

    class << self
      # Adds the gradients of the sum of the tensors to all leaves that they depend on. `grad_tensors` are the gradients
      # of the tensors, 1 by default.
      def backward(tensors, grad_tensors: nil, retain_graph: nil, create_graph: false)
        outputs = tensor_list("backward", "tensors", tensors)
        grads = grads_of("backward", "grad_tensors", grad_tensors, outputs)
        run_backward(outputs, grads, nil, retain_graph.nil? ? create_graph : retain_graph, create_graph)
        nil
      end

      # Returns one tensor or an Array of tensors as an Array. Raises TypeMismatch.
      def tensor_list(method, name, value, optional: false)
        items = value.is_a?(Tensor) ? [value] : value
        return items if items.is_a?(Array) && items.all? { |each| each.is_a?(Tensor) || (optional && each.nil?) }

        raise TypeMismatch, "#{method}: #{name} must be Tensor or Array of Tensors, got #{value.class}"
      end

      # Returns the gradients of outputs: those given, or a nil per output. Raises InvalidArgument.
      def grads_of(method, name, grads, outputs)
        return [nil] * outputs.length if grads.nil?

        found = tensor_list(method, name, grads, optional: true)
        return found if found.length == outputs.length

        raise InvalidArgument,
              "#{method}: #{name} must have a gradient for each of #{outputs.length} tensors, got #{found.length}"
      end

      # Returns the gradients of leaves, zeros where the output does not depend on one.
      def gradients(outputs, grads, leaves, retain_graph, create_graph)
        run_backward(outputs, grads, leaves, retain_graph, create_graph).zip(leaves).map do |found, leaf|
          found || OneFlow.zeros_like(leaf)
        end
      end

      # Returns a tensor over the same memory that requires a gradient; with `keeps_history`, one that has it already.
      def leaf(method, value, keeps_history)
        raise TypeMismatch, "#{method}: a gradient needs a Tensor argument, got #{value.class}" unless value.is_a?(Tensor)

        keeps_history && value.requires_grad? ? value : value.detach.requires_grad!
      end
    end
  end

  class << self
    # Runs the block without recording its calls, and returns its value.
    def no_grad(&) = in_grad_mode(false, &)

    # Runs the block with its calls recorded, also within `no_grad`.
    def enable_grad(&) = in_grad_mode(true, &)

    # The same as `no_grad`.
    def inference_mode(&) = in_grad_mode(false, &)

    # Returns the gradients of the sum of the outputs for the inputs, as an Array. With a block, returns a lambda of the
    # gradient of the block for its argument number `argnums`, or an Array for several.
    def grad(outputs = nil, inputs = nil, grad_outputs: nil, retain_graph: nil, create_graph: false, allow_unused: false,
             argnums: 0, &block)
      if block
        function = value_and_grad(argnums:, &block)
        return ->(*args) { function.call(*args).last }
      end
      tensors = Autograd.tensor_list("grad", "outputs", outputs)
      wanted = Autograd.tensor_list("grad", "inputs", inputs)
      grads = Autograd.grads_of("grad", "grad_outputs", grad_outputs, tensors)
      retains = retain_graph.nil? ? create_graph : retain_graph
      found = Autograd.run_backward(tensors, grads, wanted, retains, create_graph)
      if !allow_unused && (unused = found.index(nil))
        raise InvalidArgument, "grad: outputs do not depend on input #{unused}; allow_unused: true gives nil for it"
      end
      found
    end

    # Returns a lambda that returns the value of the block, and its gradient for its argument number `argnums`.
    def value_and_grad(argnums: 0, &block)
      raise InvalidArgument, "value_and_grad: a block is needed" unless block

      numbers = Array(argnums)
      lambda do |*args|
        records = grad_enabled? && args.any? { |each| each.is_a?(Tensor) && each.requires_grad? }
        enable_grad do
          leaves = numbers.map { |number| Autograd.leaf("value_and_grad", args[number], records) }
          given = args.dup
          numbers.zip(leaves) { |number, leaf| given[number] = leaf }
          value = block.call(*given)
          found = Autograd.gradients([value], [nil], leaves, records, records)
          [records ? value : value.detach, argnums.is_a?(Array) ? found : found.first]
        end
      end
    end

    # Returns the value of the block for the inputs, and a lambda from a gradient of the value to those of the inputs.
    def vjp(*inputs, &block)
      leaves = inputs.map { |each| Autograd.leaf("vjp", each, grad_enabled?) }
      value = enable_grad { block.call(*leaves) }
      outputs = Autograd.tensor_list("vjp", "the value", value)
      pull = lambda do |gradient = nil|
        grads = Autograd.grads_of("vjp", "gradient", gradient, outputs)
        found = Autograd.gradients(outputs, grads, leaves, true, false)
        found.length == 1 ? found.first : found
      end
      [value.is_a?(Tensor) ? value.detach : value, pull]
    end

    # Returns the derivatives of every element of the block's value, of shape value.shape + input.shape; for several
    # inputs, an Array. `create_graph` records their computation.
    def jacobian(inputs, create_graph: false, &block)
      leaves = Autograd.tensor_list("jacobian", "inputs", inputs).map { |x| Autograd.leaf("jacobian", x, create_graph) }
      results = enable_grad do
        value = block.call(*leaves)
        raise TypeMismatch, "jacobian: the block must return Tensor, got #{value.class}" unless value.is_a?(Tensor)

        flat = OneFlow.reshape(value, [-1])
        rows = value.requires_grad? ? Array.new(flat.size) { |i| jacobian_row(flat, i, leaves, create_graph) } : []
        leaves.each_with_index.map { |leaf, k| stacked_rows(rows.map { |row| row[k] }, value, leaf) }
      end
      inputs.is_a?(Tensor) ? results.first : results
    end

    # Returns the second derivatives of the block's value, which has one element; for several inputs, an Array of Arrays.
    def hessian(inputs, create_graph: false, &block)
      given = Autograd.tensor_list("hessian", "inputs", inputs)
      rows = given.each_index.map do |i|
        jacobian(given, create_graph:) do |*args|
          value = block.call(*args)
          raise ShapeError, "hessian: the block must return one element, got shape #{value.shape}" unless value.size == 1

          Autograd.gradients([value], [nil], [args[i]], true, true).first
        end
      end
      inputs.is_a?(Tensor) ? rows.first.first : rows
    end

    # Returns the value of the block for the arguments, of which nothing is kept for the backward pass: that calls the
    # block again.
    def checkpoint(*args, &block)
      function = Class.new(Autograd::Function) do
        define_singleton_method(:name) { "checkpoint" }
        define_singleton_method(:forward) { |_context, *given| block.call(*given) }
        define_singleton_method(:backward) do |_context, *grads|
          leaves = args.map { |x| x.is_a?(Tensor) && x.requires_grad? ? x.detach.requires_grad! : x }
          results = OneFlow.enable_grad { block.call(*leaves) }
          outputs = results.is_a?(Tensor) ? [results] : results
          kept = outputs.zip(grads).select { |output, _| output.requires_grad? }
          Autograd.backward(kept.map(&:first), grad_tensors: kept.map(&:last))
          args.zip(leaves).map { |arg, leaf| leaf.grad if arg.is_a?(Tensor) && arg.requires_grad? }
        end
      end
      function.apply(*args)
    end

    private

    def in_grad_mode(recording)
      before = grad_enabled?
      self.grad_enabled = recording
      yield
    ensure
      self.grad_enabled = before
    end

    def jacobian_row(flat, position, leaves, create_graph)
      Autograd.gradients([flat[position]], [nil], leaves, true, create_graph)
    end

    def stacked_rows(rows, value, leaf)
      shape = value.shape + leaf.shape
      return zeros(shape, dtype: value.dtype, device: value.device) if rows.empty?

      OneFlow.reshape(stack(rows), shape)
    end
  end

  # Gradients of a tensor.
  class Tensor
    # Makes a leaf require a gradient, or not, and returns it. Raises DTypeError for a tensor that is neither
    # floating-point nor complex.
    def requires_grad!(value = true) # rubocop:disable Style/OptionalBooleanParameter
      self.requires_grad = value
      self
    end

    # Adds the gradients of the tensor to all leaves that it depends on. `gradient` is that of the tensor itself, 1 by
    # default for a tensor with one element.
    def backward(gradient = nil, retain_graph: nil, create_graph: false)
      Autograd.backward(self, grad_tensors: gradient, retain_graph:, create_graph:)
    end

    # Makes backward passes call the block with the gradient; it may return another one. Returns a HookHandle.
    def register_hook(&block)
      raise InvalidArgument, "register_hook: a block is needed" unless block

      Autograd::HookHandle.new(add_hook(block))
    end
  end
end
