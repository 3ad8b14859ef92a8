# frozen_string_literal: true

module OneFlow
  # The program oneflow-run, which starts the ranks of a job.
  module Launcher
    # Returns its path: it is next to the extension. Raises LoadError if there is none.
    def self.path
      places = [File.join(__dir__, "oneflow-run")]
      # In a checkout, the extension is a link into the build folder.
      extension = File.join(__dir__, "oneflow.so")
      places << File.expand_path("../../../lib/oneflow-run", File.realpath(extension)) if File.symlink?(extension)
      places.find { |file| File.executable?(file) } or
        raise LoadError, "oneflow-run: there is no #{places.last}, as in gems that use an installed liboneflow"
    end
  end
  private_constant :Launcher
end
