# frozen_string_literal: true

module OneFlow
  # Finds the device plugins that other gems bring: `oneflow_devices/NAME.so` in an installed gem or in a folder of
  # $LOAD_PATH.
  module Plugins
    PATTERN = "oneflow_devices/*.so"

    class << self
      # Makes the runtime search the plugins when a program asks for a device.
      def add
        (loaded + installed).uniq { |file| File.realpath(file) }.each { |file| OneFlow.send(:add_device_path, file) }
      rescue DeviceError => e
        warn e.message
      end

      private

      def loaded = $LOAD_PATH.flat_map { |folder| Dir.glob(File.join(folder, PATTERN)) }

      # Returns the plugins of installed gems.
      def installed
        return [] unless defined?(Gem::Specification)

        gems = Gem::Specification.stubs.reject { |gem| gem.matches_for_glob(PATTERN).empty? }
        gems.group_by(&:name).flat_map { |name, versions| plugins_of(name, versions) }
      end

      # Returns the plugins of a gem, of whose versions one is for this version of oneflow-rb.
      def plugins_of(name, versions)
        fitting = versions.find { |gem| fits?(gem) }
        return fitting.matches_for_glob(PATTERN) if fitting

        warn "oneflow-rb #{VERSION} cannot use #{name} #{versions.map(&:version).join(", ")}; install the same " \
             "version of both: gem install #{name}:#{VERSION}"
        []
      end

      # Returns whether a gem depends on this version of oneflow-rb, or on any.
      def fits?(gem)
        gem.to_spec.dependencies.all? { |needed| needed.name != "oneflow-rb" || needed.match?("oneflow-rb", VERSION) }
      end
    end

    add
  end
  private_constant :Plugins
end
