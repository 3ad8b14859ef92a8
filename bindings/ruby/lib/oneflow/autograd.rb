# frozen_string_literal: true

require "oneflow/autograd/function"

# Gradients of functions, and gradient modes.
module OneFlow
  # Gradients of functions, gradient modes, and functions with gradients of their own.
  #
  #     x = OneFlow.tensor([1.0, 2.0]).requires_grad!
  #     (x * x).sum.backward
  #     x.grad # => tensor([2., 4.])
  module Autograd
    HookHandle = OneFlow::HookHandle

    class << self
      # Adds the gradients of the sum of the tensors to all leaves that they depend on. `grad_tensors` are the gradients
      # of the tensors, 1 by default.
      def backward(tensors, grad_tensors: nil, **options)
        outputs = tensor_list("backward", "tensors", tensors)
        pass("backward", outputs, grads_of("backward", "grad_tensors", grad_tensors, outputs), nil, **options)
        nil
      end

      # Runs the block, during which backward passes fail at the call whose gradient has a NaN, and name it. This holds
      # for the whole process.
      def detect_anomaly(&block)
        given_block("detect_anomaly", block)
        before = OneFlow.get_option("detect_anomaly")
        OneFlow.set_option("detect_anomaly", true)
        begin
          block.call
        ensure
          OneFlow.set_option("detect_anomaly", before)
        end
      end

      # Runs a backward pass. Returns the gradients of the inputs, nil where there is none.
      def pass(method, outputs, grads, inputs, retain_graph: nil, create_graph: false)
        retains = nil.equal?(retain_graph) ? create_graph : retain_graph
        run_backward(outputs, grads, inputs, flag(method, "retain_graph", retains),
                     flag(method, "create_graph", create_graph), nil)
      end

      # Returns true or false. Raises TypeMismatch for another value.
      def flag(method, name, value)
        return value if true.equal?(value) || false.equal?(value)

        raise TypeMismatch, "#{method}: #{name} must be bool, got #{type_description(value)}"
      end

      # Returns an Array as it is, and another value in an Array.
      def list_of(value) = Array === value ? value : [value]

      # Returns the value of a block. Raises TypeMismatch unless it is a tensor.
      def value_of(method, value)
        return value if Tensor === value

        raise TypeMismatch, "#{method}: the block must return Tensor, got #{type_description(value)}"
      end

      # Returns what something returned, a tensor or an Array of tensors, as an Array. Raises TypeMismatch.
      def returned_list(method, name, value)
        items = list_of(value)
        return items if items.all?(Tensor)

        found = type_description(value)
        found = "an #{found} with #{type_description(items.find { |each| !(Tensor === each) })}" if Array === value
        raise TypeMismatch, "#{method}: #{name} must return Tensor or Array of Tensors, got #{found}"
      end

      # Returns a block. Raises TypeMismatch if there is none.
      def given_block(method, block) = block || raise(TypeMismatch, "#{method}: missing block")

      # Returns a number or an Array of numbers as an Array. Raises TypeMismatch, and InvalidArgument for an empty one.
      def argument_numbers(method, argnums)
        numbers = list_of(argnums)
        wrong = numbers.index { |each| !(Integer === each) }
        if wrong
          expected = Array === argnums ? "[#{wrong}] must be Integer" : " must be Integer or Array of Integers"
          raise TypeMismatch, "#{method}: argnums#{expected}, got #{type_description(numbers[wrong])}"
        end
        raise InvalidArgument, "#{method}: argnums must have at least one number" if numbers.empty?

        numbers
      end

      # Returns the positions of arguments, of which there are `count`; negative numbers count from the end. Raises
      # IndexOutOfRange, and InvalidArgument for an argument that is named twice.
      def positions_of(method, numbers, count)
        numbers.each_with_object([]) do |number, found|
          unless number.between?(-count, count - 1)
            raise IndexOutOfRange, "#{method}: argnums has #{number}, but there are #{count} arguments"
          end
          if found.include?(number % count)
            raise InvalidArgument, "#{method}: argnums names argument #{number % count} twice"
          end

          found << (number % count)
        end
      end

      # Returns whether a value is a tensor that requires a gradient.
      def wanted?(value) = Tensor === value && value.requires_grad?

      # Returns one tensor or an Array of tensors as an Array. Raises TypeMismatch.
      def tensor_list(method, name, value, optional: false)
        return [value] if Tensor === value
        unless Array === value
          raise TypeMismatch, "#{method}: #{name} must be Tensor or Array of Tensors, got #{type_description(value)}"
        end

        wrong = value.index { |each| !(Tensor === each || (optional && nil.equal?(each))) }
        return value unless wrong

        expected = optional ? "Tensor or nil" : "Tensor"
        raise TypeMismatch, "#{method}: #{name}[#{wrong}] must be #{expected}, got #{type_description(value[wrong])}"
      end

      # Returns one tensor or an Array of tensors as an Array. Raises TypeMismatch, and InvalidArgument without tensors.
      def input_list(method, value)
        items = tensor_list(method, "inputs", value)
        raise InvalidArgument, "#{method}: inputs must have at least one tensor" if items.empty?

        items
      end

      # Returns the gradients of outputs: those given, or a nil per output. Raises InvalidArgument.
      def grads_of(method, name, grads, outputs)
        return [nil] * outputs.length if nil.equal?(grads)

        found = tensor_list(method, name, grads, optional: true)
        return found if found.length == outputs.length

        raise InvalidArgument,
              "#{method}: #{name} must have a gradient for each of #{outputs.length} tensors, got #{found.length}"
      end

      # Returns the gradients of inputs, zeros where the outputs do not depend on one.
      def gradients(method, outputs, grads, inputs, **flags)
        flags => {retain_graph:, create_graph:}
        run_backward(outputs, grads, inputs, retain_graph, create_graph, method).zip(inputs).map do |found, input|
          found || OneFlow.zeros_like(input)
        end
      end

      # Returns a tensor over the same memory, whose gradient is not that of the value; with `keeps_history`, it depends
      # on the value.
      def variable(method, value, keeps_history)
        unless Tensor === value
          raise TypeMismatch, "#{method}: a gradient needs a Tensor argument, got #{type_description(value)}"
        end

        independent_variable(value, keeps_history)
      end
    end
  end

  class << self
    # Runs the block without recording its calls, and returns its value.
    def no_grad(&block) = in_grad_mode("no_grad", false, block)

    # Runs the block with its calls recorded, also within `no_grad`.
    def enable_grad(&block) = in_grad_mode("enable_grad", true, block)

    # The same as `no_grad`.
    def inference_mode(&block) = in_grad_mode("inference_mode", false, block)

    # Returns the gradients of the sum of the outputs for the inputs, as an Array. With a block, returns a lambda of the
    # gradient of the block for its argument number `argnums`, or an Array for several.
    def grad(outputs = nil, inputs = nil, argnums: 0, **options, &block)
      return gradients_of_inputs(outputs, inputs, **options) unless block

      function = with_gradient("grad", argnums, block)
      ->(*args) { function.call(*args).last }
    end

    # Returns a lambda that returns the value of the block, and its gradient for its argument number `argnums`.
    def value_and_grad(argnums: 0, &block) = with_gradient("value_and_grad", argnums, block)

    # Returns the value of the block for the inputs, and a lambda from a gradient of the value to those of the inputs.
    def vjp(*inputs, &block)
      Autograd.given_block("vjp", block)
      recording = grad_enabled?
      variables = inputs.map { |each| Autograd.variable("vjp", each, recording) }
      value = enable_grad { block.call(*variables) }
      outputs = Autograd.returned_list("vjp", "the block", value)
      records = recording && Autograd.depends_on_others(outputs, variables)
      results = records ? outputs : outputs.map(&:detach)
      [Array === value ? results : results.first, pull_of(outputs, variables, records)]
    end

    # Returns the derivatives of every element of the block's value, of shape value.shape + input.shape; for several
    # inputs, an Array. `create_graph` records their computation.
    def jacobian(inputs, create_graph: false, &block)
      Autograd.given_block("jacobian", block)
      Autograd.flag("jacobian", "create_graph", create_graph)
      given = Autograd.input_list("jacobian", inputs)
      variables = given.map { |each| Autograd.variable("jacobian", each, create_graph) }
      results = enable_grad do
        value = Autograd.value_of("jacobian", block.call(*variables))
        rows = jacobian_rows(value, variables, create_graph)
        variables.each_with_index.map { |input, k| stacked_rows(rows.map { |row| row[k] }, value, input) }
      end
      inputs.is_a?(Tensor) ? results.first : results
    end

    # Returns the second derivatives of the block's value, which has one element; for several inputs, an Array of
    # Arrays.
    def hessian(inputs, create_graph: false, &block)
      Autograd.given_block("hessian", block)
      Autograd.flag("hessian", "create_graph", create_graph)
      given = Autograd.input_list("hessian", inputs)
      rows = given.each_index.map do |i|
        jacobian(given, create_graph:) do |*args|
          value = Autograd.value_of("hessian", block.call(*args))
          raise ShapeError, "hessian: the block must return one element, got shape #{value.shape}" if value.size != 1

          Autograd.gradients("hessian", [value], [nil], [args[i]], retain_graph: true, create_graph: true).first
        end
      end
      inputs.is_a?(Tensor) ? rows.first.first : rows
    end

    # Returns the value of the block for the arguments, of which nothing is kept for the backward pass: that calls the
    # block again, which draws the same numbers from the default generator.
    def checkpoint(*args, &block)
      Autograd.given_block("checkpoint", block)
      Checkpoint.apply(block, *args)
    end

    private

    def in_grad_mode(method, recording, block)
      Autograd.in_mode(recording, Autograd.given_block(method, block))
    end

    def with_gradient(method, argnums, block)
      Autograd.given_block(method, block)
      numbers = Autograd.argument_numbers(method, argnums).dup
      lambda do |*args|
        recording = grad_enabled?
        positions = Autograd.positions_of(method, numbers, args.length)
        inputs = positions.map { |i| Autograd.variable(method, args[i], recording) }
        positions.zip(inputs) { |i, variable| args[i] = variable }
        value = Autograd.value_of(method, enable_grad { block.call(*args) })
        records = recording && Autograd.depends_on_others([value], inputs)
        found = Autograd.gradients(method, [value], [nil], inputs, retain_graph: records, create_graph: records)
        [records ? value : value.detach, Array === argnums ? found : found.first]
      end
    end

    def gradients_of_inputs(outputs, inputs, grad_outputs: nil, allow_unused: false, **options)
      tensors = Autograd.tensor_list("grad", "outputs", outputs)
      wanted = Autograd.input_list("grad", inputs)
      grads = Autograd.grads_of("grad", "grad_outputs", grad_outputs, tensors)
      Autograd.flag("grad", "allow_unused", allow_unused)
      found = Autograd.pass("grad", tensors, grads, wanted, **options)
      return found if allow_unused || !found.include?(nil)

      raise InvalidArgument, "grad: outputs do not depend on input #{found.index(nil)}; " \
                             "allow_unused: true gives nil for it"
    end

    def pull_of(outputs, inputs, records)
      lambda do |gradient = nil|
        grads = Autograd.grads_of("vjp", "gradient", gradient, outputs)
        creates = grad_enabled? && (records || grads.any? { |each| Autograd.wanted?(each) })
        found = Autograd.gradients("vjp", outputs, grads, inputs, retain_graph: true, create_graph: creates)
        found.length == 1 ? found.first : found
      end
    end

    def jacobian_rows(value, inputs, create_graph)
      return [] unless value.requires_grad?

      flat = OneFlow.reshape(value, [-1])
      Array.new(flat.size) do |i|
        Autograd.gradients("jacobian", [flat[i]], [nil], inputs, retain_graph: true, create_graph:)
      end
    end

    def stacked_rows(rows, value, input)
      shape = value.shape + input.shape
      return zeros(shape, dtype: input.dtype, device: input.device) if rows.empty?

      OneFlow.reshape(stack(rows), shape)
    end
  end

  # Gradients of a tensor.
  class Tensor
    # Makes a leaf require a gradient, or not, and returns it. Raises DTypeError for a tensor that is neither
    # floating-point nor complex.
    def requires_grad!(value = true) # rubocop:disable Style/OptionalBooleanParameter
      self.requires_grad = Autograd.flag("requires_grad!", "value", value)
      self
    end

    # Adds the gradients of the tensor to all leaves that it depends on. `gradient` is that of the tensor itself, 1 by
    # default for a tensor with one element.
    def backward(gradient = nil, retain_graph: nil, create_graph: false)
      grads = Autograd.grads_of("backward", "gradient", gradient, [self])
      Autograd.pass("backward", [self], grads, nil, retain_graph:, create_graph:)
      nil
    end
  end
end
