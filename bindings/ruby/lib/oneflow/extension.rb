# frozen_string_literal: true

require "etc"
require "rbconfig"

module OneFlow
  # Loads the extension, or raises a LoadError that says what was found and what to do.
  #
  # The gem of a platform has an extension for each version of Ruby, in a folder of that name, `3.1/oneflow.so`, and the
  # libraries that all of them use. The extension of the source gem was compiled for this Ruby when it was installed.
  module Extension
    RUBY = "#{RUBY_ENGINE} #{RUBY_ENGINE_VERSION} (#{RUBY_PLATFORM})".freeze
    BUILD = "build it on this machine: gem install oneflow-rb --platform ruby"
    REINSTALL = "install it again: gem install oneflow-rb --force"

    class << self
      # Requires the extension that is compiled for this Ruby.
      def load
        return link("oneflow/oneflow") if versions.empty?

        version = RUBY_VERSION[/\d+\.\d+/]
        return link(File.join(__dir__, version, "oneflow")) if RUBY_ENGINE == "ruby" && versions.include?(version)

        raise LoadError, "oneflow-rb has binaries for Ruby #{versions.join(", ")}, but this is #{RUBY}; #{BUILD}"
      end

      private

      # Returns the versions of Ruby that the gem has binaries for.
      def versions
        Dir.glob("*.*/oneflow.#{RbConfig::CONFIG["DLEXT"]}", base: __dir__).map { |file| File.dirname(file) }.sort
      end

      def link(file)
        Dir.glob("{,*/}*.so*", base: __dir__) do |name|
          raise LoadError, "#{File.join(__dir__, name)} is truncated" if truncated?(File.join(__dir__, name))
        end
        require file
      rescue LoadError => e
        raise if e.message.start_with?("oneflow-rb ") # from the extension

        raise LoadError, "oneflow-rb cannot be loaded by #{RUBY}: #{explain(e.message)}\n#{e.message}", cause: nil
      end

      # Returns whether a library ends before its table of sections, which is its last part. To load it would end the
      # process.
      def truncated?(file)
        header = File.binread(file, 64) || ""
        return false unless header.start_with?("\x7FELF\x02\x01".b) && header.size == 64

        offset, size, count = header.unpack("@40Q< @58S<S<")
        File.size(file) < offset + (size * count)
      end

      # Returns the cause of the message of the linker, and what to do.
      def explain(text)
        return "its binaries need glibc, but this system has musl; #{BUILD}" if c_library == "musl" && versions.any?

        case text
        when /version [`']GLIBC_([\d.]+)' not found/
          "its binaries need glibc #{Regexp.last_match(1)} or later, but this system has #{c_library}; #{BUILD}"
        when /symbol.*\bof_/
          "this process has loaded liboneflow of another version from #{loaded_libraries}; install the same version " \
          "of all packages of oneflow that are loaded together"
        when /cannot load such file/ then "its extension is missing; #{REINSTALL}"
        else "a file is missing or damaged; #{REINSTALL}"
        end
      end

      # Returns the name of the system's C library, and its version if that is known.
      def c_library
        RbConfig::CONFIG["host_os"].include?("musl") ? "musl" : Etc.confstr(Etc::CS_GNU_LIBC_VERSION)
      rescue SystemCallError, NameError
        "another C library"
      end

      # Returns the paths of the copies of liboneflow in this process.
      def loaded_libraries
        File.read("/proc/self/maps").scan(%r{/.*/liboneflow\..*$}).uniq.join(", ")
      rescue SystemCallError
        "another folder"
      end
    end

    load
  end
  private_constant :Extension
end
