# frozen_string_literal: true

module OneFlow
  # ONNX models as graphs.
  #
  #     graph = OneFlow::Onnx.load("model.onnx", sizes: { batch: 1 })
  #     probabilities = graph.(pixels)
  #     graph.save("model.flow")
  module Onnx
    class << self
      # Loads an ONNX model as a graph.
      def load(path, sizes: nil, values: nil)
        bounds = named(:sizes, sizes).to_h { |name, size| [name, bounds_of(name, size)] }
        tensors = named(:values, values).transform_values { |value| tensor_of(value) }
        graph = Graph.__send__(:read_onnx, Nodes.path(:load, path), bounds.keys, bounds.values, tensors.keys,
                               tensors.values)
        graph.__send__(:prepare)
      end

      private

      def named(argument, items)
        what = "load: a key of #{argument}"
        Nodes.optional_hash(:load, argument, items).transform_keys { |key| Nodes.text(what, key) }
      end

      # Returns the minimum, the maximum and the step of a size.
      def bounds_of(name, size)
        return NamedSizes.bounds("load: sizes['#{name}']", size) unless Integer === size
        return [size, size, 1] if size.between?(1, NamedSizes::LARGEST)

        raise TypeMismatch, "load: sizes['#{name}'] must be positive, got #{size}"
      end

      def tensor_of(value) = Tensor === value ? value : OneFlow.tensor(value)
    end
  end
end
