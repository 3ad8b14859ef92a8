# frozen_string_literal: true

module OneFlow
  # A device, and what is known of it at the moment. It is taken wherever its name is.
  class Device
    # The full name: kind, colon and index.
    attr_reader :name

    alias to_s name
    alias to_str name

    # The kind of device: the name before its colon.
    def type = name.partition(":").first

    # Which of the devices of this kind, from 0.
    def index = Integer(name.partition(":").last)

    # What its maker calls it.
    def hardware = properties[:hardware].scrub

    # Bytes of memory; 0 where unknown.
    def total_memory = properties[:total_memory]

    # Bytes that nobody uses at the moment; 0 where unknown.
    def free_memory = properties[:free_memory]

    # Cores, multiprocessors and the like; 0 where unknown.
    def compute_units = properties[:compute_units]

    # What the device can do itself: `:kernels`, `:asynchronous` and so on.
    def capabilities = properties[:capabilities]

    # Whether the other is the same device or its full name.
    def ==(other) = other.respond_to?(:to_str) && name == other.to_str

    def eql?(other) = other.is_a?(Device) && name == other.name

    def hash = name.hash

    # For `case device in {type:, index: 0}`.
    def deconstruct_keys(_names) = { name:, type:, index: }

    def inspect = "device(#{name.inspect})"
  end
end
