# frozen_string_literal: true

# The options for printing tensors.
module OneFlow
  PRINT_RANGES = {
    precision: 0..17, threshold: 0..((2**31) - 1), edge_items: 1..((2**30) - 1), line_width: 20..(2**20)
  }.freeze
  private_constant :PRINT_RANGES

  @print_options = { precision: 4, threshold: 1000, edge_items: 3, line_width: 80 }.freeze

  class << self
    # Returns the options for printing tensors as a frozen Hash: the digits after the decimal point (`:precision`), the
    # number of elements above which the output is summarised (`:threshold`), the number of elements at each end of a
    # summarised dimension (`:edge_items`), and the columns of a line (`:line_width`).
    attr_reader :print_options

    # Sets the given options and returns all options. Raises TypeMismatch for a value that is not an Integer,
    # InvalidArgument for one out of range.
    def set_print_options(precision: nil, threshold: nil, edge_items: nil, line_width: nil)
      changes = { precision:, threshold:, edge_items:, line_width: }.compact
      changes.each { |name, value| check_print_option(name, value) }
      @print_options = @print_options.merge(changes).freeze
    end

    private

    def check_print_option(name, value)
      start = "set_print_options: #{name} must be"
      raise TypeMismatch, "#{start} Integer, got #{value.class}" unless value.is_a?(Integer)

      range = PRINT_RANGES[name]
      raise InvalidArgument, "#{start} between #{range.min} and #{range.max}, got #{value}" unless range.include?(value)
    end
  end

  # Printing of a tensor.
  class Tensor
    # The dtypes that OneFlow.tensor infers from the printed numbers, so that `inspect` omits them.
    INFERRED_DTYPES = %i[int64 float32 bool].freeze
    private_constant :INFERRED_DTYPES

    # Returns `tensor([[1., 2.]])`, with the dtype, the shape and the device where they do not follow from the numbers
    # and the default device.
    def inspect
      numbers = format_elements(*OneFlow.print_options.values)
      numbers.downcase! if dtype == :bool # the runtime prints True and False
      facts = []
      facts << "shape: #{shape}" if empty? && shape != [0]
      facts << "dtype: :#{dtype}" if empty? || !INFERRED_DTYPES.include?(dtype)
      facts << "device: \"#{device}\"" if device != OneFlow.default_device
      "tensor(#{[numbers, *facts].join(", ")})"
    end
    alias to_s inspect

    # Prints the tensor for `pp`: its lines are indented inside of Arrays and Hashes.
    def pretty_print(printer)
      return printer.text(inspect) unless printer.respond_to?(:current_group) # such as a printer of a single line

      first, *others = inspect.lines(chomp: true)
      printer.group(0) do
        printer.text(first)
        others.each do |line|
          printer.current_group.break
          printer.breakable("")
          printer.text(line)
        end
      end
    end
  end
end
