# frozen_string_literal: true

# The extension of a gem that stands for a device plugin on systems for which there is none: it says what to do. Without
# that gem, RubyGems would say that there is no such gem, also on Debian 12, where it takes binaries from a static index
# only if the index has sources as well.

gem, version = File.basename(File.dirname(__dir__)).match(/\A(.+)-(\d.*)\z/).captures
device = gem.split("-").last
abort "#{gem} #{version} has no binaries for #{RUBY_PLATFORM} with RubyGems #{Gem::VERSION}. It has some for Linux " \
      "with glibc, for which RubyGems must be 3.3.15 or later. Elsewhere, build the plugin from the sources of " \
      "oneflow with `make build-device-#{device}`, and set ONEFLOW_DEVICE_PATH to the file that it writes."
