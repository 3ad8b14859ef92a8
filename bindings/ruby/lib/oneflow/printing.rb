# frozen_string_literal: true

# How tensors are printed.
module OneFlow
  PRINT_RANGES = {
    precision: 0..17, threshold: 0..((2**31) - 1), edge_items: 1..((2**30) - 1), line_width: 20..(2**20)
  }.freeze
  private_constant :PRINT_RANGES

  @print_options = { precision: 4, threshold: 1000, edge_items: 3, line_width: 80 }.freeze

  class << self
    # How tensors are printed: digits behind the point, the number of elements above which a text is shortened, how many
    # are shown at each end of a shortened dimension, and the columns of a line.
    attr_reader :print_options

    # Changes some of them; returns all.
    def set_print_options(precision: nil, threshold: nil, edge_items: nil, line_width: nil)
      changes = { precision:, threshold:, edge_items:, line_width: }.compact
      changes.each { |name, value| check_print_option(name, value) }
      @print_options = @print_options.merge(changes).freeze
    end

    private

    def check_print_option(name, value)
      place = "set_print_options: #{name} must be"
      raise TypeMismatch, "#{place} Integer, got #{value.class}" unless value.is_a?(Integer)

      range = PRINT_RANGES[name]
      raise InvalidArgument, "#{place} between #{range.min} and #{range.max}, got #{value}" unless range.include?(value)
    end
  end

  # Its text.
  class Tensor
    # The dtypes that a literal in the text gives by itself.
    NATURAL_DTYPES = %i[int64 float32 bool].freeze
    private_constant :NATURAL_DTYPES

    # `tensor([[1., 2.]])`, with the dtype, the shape and the device where the numbers do not tell them.
    def inspect
      numbers = format_elements(*OneFlow.print_options.values)
      numbers.downcase! if dtype == :bool # the runtime prints True and False
      facts = []
      facts << "shape: #{shape}" if empty? && shape != [0]
      facts << "dtype: :#{dtype}" if empty? || !NATURAL_DTYPES.include?(dtype)
      facts << "device: \"#{device}\"" if device != OneFlow.default_device
      "tensor(#{[numbers, *facts].join(", ")})"
    end
    alias to_s inspect
  end
end
