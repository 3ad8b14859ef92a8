# frozen_string_literal: true

module OneFlow
  # The cost of graphs.
  class Graph
    # The cost of all calls of an operator in a graph.
    OperatorCost = Struct.new(:name, :calls, :operations, :bytes_read, :bytes_written)

    # What a run of a graph takes; see `cost`.
    Cost = Struct.new(:operations, :bytes_read, :bytes_written, :constant_bytes, :peak_bytes, :operators, :table) do
      # Returns the table.
      def to_s = table.chomp
    end

    # Returns what a run takes, from shapes alone, with a value for each of the named sizes: `graph.cost(batch: 8)`.
    def cost(**sizes)
      names = sizes.keys.map { |name| Nodes.text("cost: a size", name) }
      sizes.each { |name, value| check_size(name, value) }
      *totals, operators, table = measure(names, sizes.values)
      Cost.new(*totals, operators.map { |each| OperatorCost.new(*each) }, table).freeze
    end

    private

    def check_size(name, value)
      raise TypeMismatch, "cost: #{name} must be Integer, got #{Autograd.class_of(value)}" unless value.is_a?(Integer)
      raise InvalidArgument, "cost: #{name} does not fit in int64: #{value}" if value.bit_length > 63
    end
  end
end
