# frozen_string_literal: true

module OneFlow
  # Finds the device plugins that other gems bring: `oneflow_devices/NAME.so` in an installed gem or in a folder of
  # $LOAD_PATH.
  module Plugins
    PATTERN = "oneflow_devices/*.so"

    class << self
      # Makes the runtime search the plugins when a program asks for a device.
      def add
        found.uniq { |file| File.realpath(file) }.each { |file| OneFlow.send(:add_device_path, file) }
      rescue DeviceError => e
        warn e.message
      end

      private

      def found
        return Gem.find_files(PATTERN) if defined?(Gem)

        $LOAD_PATH.flat_map { |folder| Dir.glob(File.join(folder, PATTERN)) }
      end
    end

    add
  end
  private_constant :Plugins
end
