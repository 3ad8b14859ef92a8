# frozen_string_literal: true

module OneFlow
  # A device and its properties. The properties are queried from the device on every call. Wherever the name of a device
  # is accepted, a Device is accepted as well.
  class Device
    # Returns the full name: type, colon and index, as in `"cpu:0"`.
    attr_reader :name

    alias to_s name
    alias to_str name

    # Returns the type of the device: the part of the name before the colon.
    def type = name.partition(":").first

    # Returns the index of the device among the devices of its type, counted from 0.
    def index = Integer(name.partition(":").last)

    # Returns the vendor's name of the hardware. Like all properties, raises DeviceError if the device does not respond.
    def hardware = properties[:hardware].scrub

    # Returns the size of the device's memory in bytes, or 0 if it is unknown.
    def total_memory = properties[:total_memory]

    # Returns the number of bytes of memory that are free, or 0 if it is unknown.
    def free_memory = properties[:free_memory]

    # Returns the number of cores, multiprocessors or similar units, or 0 if it is unknown.
    def compute_units = properties[:compute_units]

    # Returns the capabilities of the device as Symbols: `:kernels`, `:asynchronous` and so on.
    def capabilities = properties[:capabilities]

    # Returns what is to be known about the plugin of the device, such as that it could not be probed; empty for most.
    def notes = properties[:notes]

    # Returns whether `other` is the same device or its full name.
    def ==(other) = other.respond_to?(:to_str) && name == other.to_str

    # Returns whether `other` is a Device of the same name.
    def eql?(other) = other.is_a?(Device) && name == other.name

    # Returns a hash that is equal for devices that are `eql?`.
    def hash = name.hash

    # Returns the name, the type and the index for pattern matching: `case device in {type:, index: 0}`.
    def deconstruct_keys(_names) = { name:, type:, index: }

    # Returns `device("cpu:0")`.
    def inspect = "device(#{name.inspect})"
  end
end
