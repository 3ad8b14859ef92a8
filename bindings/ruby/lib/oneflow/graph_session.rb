# frozen_string_literal: true

module OneFlow
  # What a graph keeps for its runs.
  class Graph
    # Makes the next runs as fast as later ones: runs the graph with inputs of zeros, which plans and takes memory. The
    # sizes are the named ones; by default those of the example of the capture.
    def warm_up(**given)
      names = sizes.keys.map(&:to_sym)
      check_sizes(names, given) unless given.empty?
      warm(given.values_at(*names).compact)
    end

    # Returns the most bytes of a run, for intermediate results and outputs, beyond which it raises OutOfMemory; or nil.
    def memory_limit = limit.nonzero?

    # Sets the most bytes of a run; nil removes the limit.
    def memory_limit=(bytes)
      unless bytes.nil? || bytes.is_a?(Integer)
        raise TypeMismatch, "memory_limit: the limit must be Integer or nil, got #{Autograd.class_of(bytes)}"
      end
      unless bytes.nil? || (bytes.positive? && bytes < 2**63)
        raise InvalidArgument, "memory_limit: the limit must be positive, got #{bytes}"
      end

      limit_memory(bytes || 0)
    end

    private

    def check_sizes(names, given)
      unless given.keys.sort == names.sort
        wanted = names.empty? ? "none" : names.join(", ")
        raise InvalidArgument, "warm_up: the sizes must be #{wanted}, got #{given.keys.join(", ")}"
      end
      name, size = given.find { |_, value| !value.is_a?(Integer) }
      raise TypeMismatch, "warm_up: #{name} must be Integer, got #{Autograd.class_of(size)}" if name
    end
  end
end
