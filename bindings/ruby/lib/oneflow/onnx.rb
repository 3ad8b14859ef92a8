# frozen_string_literal: true

module OneFlow
  # ONNX models as graphs, and graphs as ONNX models.
  #
  #     graph = OneFlow::Onnx.load("model.onnx", sizes: { batch: 1 })
  #     probabilities = graph.(pixels)
  #     graph.save("model.flow")
  #     OneFlow::Onnx.save(graph, "copy.onnx")
  module Onnx
    class << self
      # Loads an ONNX model as a graph.
      def load(path, sizes: nil, values: nil)
        tensors = named(:values, values).transform_values { |value| tensor_of(value) }
        graph = Graph.__send__(:read_onnx, Nodes.path(:load, path), *size_arguments(sizes), tensors.keys,
                               tensors.values)
        warn "load: #{graph.note}", uplevel: 0 unless graph.note.empty?
        graph.__send__(:prepare)
      end

      # Saves a graph as an ONNX model.
      def save(graph, path, opset: 17, external_bytes: nil)
        raise TypeMismatch, "save: graph must be Graph, got #{graph.class}" unless Graph === graph

        numbers = [positive(:opset, opset), external_bytes ? positive(:external_bytes, external_bytes) : 0]
        graph.__send__(:write_onnx, Nodes.path(:save, path), *numbers)
        nil
      end

      private

      def positive(name, value)
        return value if Integer === value && value.between?(1, NamedSizes::LARGEST)

        raise TypeMismatch, "save: #{name} must be a positive Integer, got #{value.inspect}"
      end

      def named(argument, items)
        what = "load: a key of #{argument}"
        Nodes.optional_hash(:load, argument, items).transform_keys { |key| Nodes.text(what, key) }
      end

      # Returns names of sizes, their ranges, names of sizes that are equal to others, and those others.
      def size_arguments(sizes)
        equal, given = named(:sizes, sizes).partition { |_, size| String === size || Symbol === size }.map(&:to_h)
        others = equal.map { |name, size| Nodes.text("load: sizes['#{name}']", size) }
        [given.keys, given.map { |name, size| bounds_of(name, size) }, equal.keys, others]
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
