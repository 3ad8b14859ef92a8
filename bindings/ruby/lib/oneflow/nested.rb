# frozen_string_literal: true

module OneFlow
  # Nested data, which files hold and graphs take and return, and its nodes in the C API: Arrays [kind, count, key,
  # tensor].
  module Nodes
    TENSOR, HASH, ARRAY = *0..2
    MAX_NESTING = 64

    module_function

    # Returns the nodes of nested data, each before its items. Texts of errors begin with `function`, and call the data
    # `what`.
    def of(function, what, data) = NodeList.new(function, what).add(data, nil, 0)

    # Returns the data of nodes. Removes from both Arrays what it takes.
    def restore(nodes, tensors) = restore_pair(nodes, tensors).last

    # Returns the names of the tensors, which join the keys and positions on the way to each. Removes the nodes.
    def names(nodes, path = [], position = nil)
      kind, count, key = nodes.shift
      path = [*path, *(key || position)]
      kind == TENSOR ? [path.join(".")] : Array.new(count) { |i| names(nodes, path, i) }.flatten
    end

    # Returns a copy of nested data with what the block returns for each tensor.
    def map(data, &)
      case data
      when Tensor then yield data
      when Hash then data.transform_values { |item| map(item, &) }
      else data.map { |item| map(item, &) }
      end
    end

    # Returns a string for the C API, in UTF-8. `what` begins error texts.
    def text(what, value)
      text = Symbol === value ? value.name : value
      raise TypeMismatch, "#{what} must be String or Symbol, got #{Autograd.class_of(value)}" unless String === text
      raise InvalidArgument, "#{what} must be a valid String" unless text.valid_encoding?
      raise InvalidArgument, "#{what} must not have a null byte" if text.include?("\0")

      text.encode(Encoding::UTF_8).freeze
    rescue EncodingError
      raise InvalidArgument, "#{what} must be convertible to UTF-8"
    end

    # Returns a path as a String.
    def path(function, value)
      path = Object === value && value.respond_to?(:to_path) ? value.to_path : value
      unless String === path
        raise TypeMismatch, "#{function}: path must be String or Pathname, got #{Autograd.class_of(value)}"
      end
      raise InvalidArgument, "#{function}: path must not have a null byte" if path.b.include?("\0")

      path.dup.freeze
    end

    def flag(function, name, value)
      return value if [true, false].include?(value)

      raise TypeMismatch, "#{function}: #{name} must be bool, got #{Autograd.class_of(value)}"
    end

    def optional_hash(function, name, value)
      return value || {} if Hash === value || nil.equal?(value)

      raise TypeMismatch, "#{function}: #{name} must be Hash or nil, got #{Autograd.class_of(value)}"
    end

    # Returns [key, value] of the next node.
    def restore_pair(nodes, tensors)
      kind, count, key = nodes.shift
      case kind
      when TENSOR then [key, tensors.shift]
      when HASH then [key, Array.new(count) { restore_pair(nodes, tensors) }.to_h]
      else [key, Array.new(count) { restore_pair(nodes, tensors).last }]
      end
    end

    private_class_method :restore_pair

    # The nodes of nested data while they are collected.
    class NodeList
      def initialize(function, what)
        @function = function
        @what = what
        @nodes = []
      end

      # Adds a value with its items, and returns the nodes.
      def add(value, key, depth)
        case value
        when Tensor then @nodes << [TENSOR, 0, key, value]
        when Hash
          start(HASH, value, key, depth)
          value.each { |name, item| add(item, Nodes.text("#{@function}: a key", name), depth + 1) }
        when Array
          start(ARRAY, value, key, depth)
          value.each { |item| add(item, nil, depth + 1) }
        else raise TypeMismatch, wrong_item(value, depth)
        end
        @nodes
      end

      private

      def start(kind, value, key, depth)
        if depth == MAX_NESTING
          raise InvalidArgument, "#{@function}: #{@what} must not be nested more than #{MAX_NESTING} deep"
        end

        @nodes << [kind, value.size, key, nil]
      end

      def wrong_item(value, depth)
        what = depth.zero? ? @what : "an item of #{@what}"
        "#{@function}: #{what} must be Tensor, Hash or Array, got #{Autograd.class_of(value)}"
      end
    end
  end
  private_constant :Nodes
end
