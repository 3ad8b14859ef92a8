# frozen_string_literal: true

# Builds the gems into the folder DIST: `ruby package.rb PAYLOAD DIST`, where PAYLOAD is what `make payload` writes.
#
#  - oneflow-rb-VERSION.gem has the sources of the extension and of liboneflow, and compiles them when it is installed;
#  - oneflow-rb-VERSION-PLATFORM.gem has the extension for each version of Ruby, and the libraries;
#  - oneflow-rb-DEVICE-VERSION-PLATFORM.gem has a device plugin, which oneflow-rb finds (see lib/oneflow/plugins.rb);
#  - oneflow-rb-DEVICE-VERSION.gem says on other systems that there is none (see packaging/no_binaries.rb).

require "fileutils"
require "rubygems/package"
require "tmpdir"
require_relative "packaging/documentation"
require_relative "packaging/runtime_sources"

# Collects the files of each gem in a folder and packs them.
class GemPackager
  HERE = __dir__
  ROOT = File.expand_path("../..", HERE)
  # Before this version RubyGems does not see which C library a gem is for.
  KNOWS_C_LIBRARIES = "3.3.22"
  # Debian 12 has this version. Those that come with Ruby for musl are older, or know C libraries.
  DEBIAN = "3.3.15"

  def initialize(payload, dist)
    @payload = File.expand_path(payload)
    @dist = File.expand_path(dist)
  end

  # Builds all gems and prints their paths.
  def run
    FileUtils.rm_rf(@dist)
    FileUtils.mkdir_p(@dist)
    pack { |stage| source_gem(stage) }
    pack { |stage| platform_gem(stage) }
    Dir.children(File.join(@payload, "devices")).sort.each do |device|
      pack { |stage| no_device_gem(stage, device) }
      pack { |stage| device_gem(stage, device) }
    end
  end

  private

  def pack
    Dir.mktmpdir do |stage|
      spec = yield stage
      normalize_modes(spec.files.map { |name| File.join(stage, name) })
      file = File.join(@dist, "#{spec.original_name}.gem")
      Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) do
        Dir.chdir(stage) { Gem::Package.build(spec, false, false, file) }
      end
      puts file
    end
  end

  # Gives files modes that do not depend on those of this user's new files.
  def normalize_modes(files) = files.each { |file| File.chmod(File.executable?(file) ? 0o755 : 0o644, file) }

  # Copies files that match a pattern, or one of several, into a folder.
  def copy(patterns, from, to)
    Dir.glob(patterns, base: from).each do |name|
      file = File.join(from, name)
      next if File.directory?(file)

      target = File.join(to, name)
      FileUtils.mkdir_p(File.dirname(target))
      FileUtils.cp(file, target)
    end
  end

  def source_gem(stage)
    stage_front_end(stage)
    copy("ext/oneflow/**/*.{cpp,h,rb}", HERE, stage)
    copy("*.cpp", File.join(HERE, "generated"), File.join(stage, "ext/oneflow"))
    copy(RuntimeSources.files(ROOT), ROOT, stage)
    specification(stage)
  end

  def platform_gem(stage)
    stage_front_end(stage)
    copy("*", File.join(@payload, "runtime"), File.join(stage, "lib/oneflow"))
    copy("*/*", File.join(@payload, "ruby"), File.join(stage, "lib/oneflow"))
    versions = Dir.children(File.join(@payload, "ruby"))
    specification(stage).tap do |spec|
      bind(spec)
      oldest, newest = versions.minmax_by { |version| Gem::Version.new(version) }
      spec.required_ruby_version = [">= #{oldest}", "< #{newest.next}.dev"]
    end
  end

  def device_gem(stage, device)
    copy("*.so", File.join(@payload, "devices", device), File.join(stage, "lib/oneflow_devices"))
    # What Bundler requires for a gem of this name.
    FileUtils.cp(File.join(HERE, "lib/oneflow-rb.rb"), File.join(stage, "lib/oneflow-rb-#{device}.rb"))
    device_specification(stage, device).tap { |spec| bind(spec) }
  end

  def no_device_gem(stage, device)
    FileUtils.mkdir_p(File.join(stage, "ext"))
    FileUtils.cp(File.join(HERE, "packaging/no_binaries.rb"), File.join(stage, "ext/extconf.rb"))
    device_specification(stage, device).tap { |spec| spec.extensions = ["ext/extconf.rb"] }
  end

  def device_specification(stage, device)
    stage_common(stage)
    specification(stage).tap do |spec|
      spec.add_dependency(spec.name, spec.version.to_s)
      spec.summary = "The device #{device} of #{spec.name}"
      spec.description = "The plugin of the device #{device}, which #{spec.name} finds where it is installed."
      spec.name = "#{spec.name}-#{device}"
    end
  end

  # Copies what both gems of oneflow-rb have.
  def stage_front_end(stage)
    copy("{README.md,.yardopts,exe/*,lib/**/*.rb,sig/*}", HERE, stage)
    copy("*.rbs", File.join(HERE, "generated"), File.join(stage, "sig"))
    [@payload, HERE].each { |folder| copy("oneflow/*", File.join(folder, "include"), File.join(stage, "include")) }
    Documentation.new(HERE).write(File.join(stage, "doc"))
    stage_common(stage)
  end

  # Copies what all gems have.
  def stage_common(stage)
    copy("*.gemspec", HERE, stage)
    copy("{VERSION,CHANGELOG.md}", ROOT, stage)
    # Tests of upgrades make gems of another version.
    File.write(File.join(stage, "VERSION"), ENV["ONEFLOW_VERSION"]) if ENV.key?("ONEFLOW_VERSION")
    copy("*", File.join(@payload, "notices"), stage)
  end

  def specification(stage) = Gem::Specification.load(File.join(stage, "oneflow-rb.gemspec"))

  # Binds a gem with binaries to this platform.
  def bind(spec)
    spec.platform = platform
    spec.required_rubygems_version = ">= #{platform.end_with?("-gnu") ? DEBIAN : KNOWS_C_LIBRARIES}"
    spec.extensions = []
  end

  # Returns this platform with the name of its C library: without one, it would stand for musl as well.
  def platform
    local = Gem::Platform.local
    local.os == "linux" ? "#{local.cpu}-linux-#{local.version || "gnu"}" : "#{local.cpu}-#{local.os}"
  end
end

abort "usage: ruby package.rb PAYLOAD DIST" unless ARGV.size == 2
GemPackager.new(*ARGV).run
