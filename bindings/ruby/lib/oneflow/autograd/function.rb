# frozen_string_literal: true

module OneFlow
  module Autograd
    # What `forward` keeps for `backward`.
    class Context
      # Whether each argument of the call requires a gradient.
      attr_accessor :needs_input_grad
      # What a function keeps besides tensors.
      attr_accessor :arguments

      # Keeps tensors, which must not be changed in place before `backward` reads them.
      def save_for_backward(*tensors)
        @saved = tensors.map do |each|
          next [nil, nil] if nil.equal?(each)
          next [each, each.version] if Tensor === each

          found = Autograd.type_description(each)
          raise TypeMismatch, "save_for_backward: tensors must be Tensor or nil, got #{found}"
        end
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
        def forward(_context, *_args) = raise(Unsupported, "#{title}: a Function must define forward")

        def backward(_context, *_grads) = raise(Unsupported, "#{title}: a Function must define backward")

        # Calls `forward`, and records the call.
        def apply(*args)
          context = Context.new
          context.needs_input_grad = args.map { |each| Autograd.wanted?(each) }
          results = OneFlow.no_grad { forward(context, *args) }
          # A tensor that was there before, such as an argument, becomes another one, whose history is this call.
          outputs = returned(results).map { |each| given?(args, each) || each.requires_grad? ? each.detach : each }
          gradients = ->(grads, _wanted) { gradients_of(args, backward(context, *grads)) }
          Autograd.record_function(title, args.grep(Tensor), outputs, gradients)
          Array === results ? outputs : outputs.first
        end

        private

        # Returns the name of the function in error texts.
        def title = name || "Function"

        # Returns the tensors that forward returned.
        def returned(results) = Autograd.returned_list(title, "forward", results)

        def given?(args, result) = args.any? { |each| each.equal?(result) }

        # Returns the gradients of the tensors among the arguments.
        def gradients_of(args, found)
          found = Autograd.list_of(found)
          unless found.length == args.length
            raise InvalidArgument, "#{title}: backward must return a gradient or nil for each of #{args.length} " \
                                   "arguments, got #{found.length}"
          end
          gradients = args.zip(found).select { |arg, _| Tensor === arg }.map(&:last)
          wrong = gradients.index { |each| !(Tensor === each || nil.equal?(each)) }
          return gradients unless wrong

          raise TypeMismatch,
                "#{title}: backward must return Tensor or nil, got #{Autograd.type_description(gradients[wrong])}"
        end
      end
    end
  end

  # A call of a block, of which nothing is kept for the backward pass: that calls the block again.
  class Checkpoint < Autograd::Function
    class << self
      def name = "checkpoint"

      def forward(context, block, *args)
        random_state = OneFlow.random_state
        results = block.call(*args)
        count = Autograd.returned_list("checkpoint", "the block", results).length
        context.arguments = [block, random_state, count, *args]
        results
      end

      def backward(context, *grads)
        leaves, outputs, given = run_again(context, grads) { |each| each.detach.requires_grad! }
        # The pass also adds to leaves that the block refers to without taking them as arguments.
        Autograd.backward(outputs, grad_tensors: given)
        found = leaves.map(&:grad)
        # The pass is recorded: what it finds depends on the arguments.
        found = recorded_gradients(context, grads) if OneFlow.grad_enabled?
        [nil, *context.arguments.drop(3).map { |each| found.shift if Autograd.wanted?(each) }]
      end

      private

      def recorded_gradients(context, grads)
        variables, outputs, given = run_again(context, grads) { |each| Autograd.variable("checkpoint", each, true) }
        Autograd.pass("checkpoint", outputs, given, variables, create_graph: true)
      end

      # Returns the variables in place of arguments, the results that depend on them, and their gradients.
      def run_again(context, grads)
        block, random_state, count, *args = context.arguments
        inputs = args.map { |each| Autograd.wanted?(each) ? yield(each) : each }
        outputs = same_count(count, with_random_state(random_state) { OneFlow.enable_grad { block.call(*inputs) } })
        kept = outputs.zip(grads).select { |output, _| output.requires_grad? }
        [inputs.reject.with_index { |each, i| each.equal?(args[i]) }, kept.map(&:first), kept.map(&:last)]
      end

      # Returns what the block returned as an Array. Raises InvalidArgument unless it has as many tensors as before.
      def same_count(count, results)
        outputs = Autograd.returned_list("checkpoint", "the block", results)
        return outputs if outputs.length == count

        raise InvalidArgument, "checkpoint: the block returned #{count} tensors, and #{outputs.length} " \
                               "when it was called again"
      end

      # Returns what the block returns if it draws from a state of the default generator on, which keeps its own state.
      def with_random_state(state)
        before = OneFlow.random_state
        OneFlow.random_state = state
        yield
      ensure
        OneFlow.random_state = before
      end
    end
  end
  private_constant :Checkpoint
end
