# frozen_string_literal: true

# Builds the gems: `ruby package.rb BUILD DIST`, BUILD being the folder that CMake built in.
#
#  - oneflow-rb-VERSION.gem, the source gem: compiles its extension against an installed liboneflow;
#  - oneflow-rb-VERSION-PLATFORM.gem: brings the extension and the libraries, and needs no compiler.

require "fileutils"
require "rubygems/package"

# Lays the files of both gems out in a staging folder, and packs them there.
class GemPackager
  HERE = __dir__

  def initialize(build, dist)
    @build = File.expand_path(build)
    @dist = File.expand_path(dist)
    @stage = File.join(@build, "gem")
  end

  def run
    FileUtils.mkdir_p(@dist)
    stage_sources
    pack(specification)
    stage_libraries
    pack(platform_specification)
  end

  private

  # Generated files get the places that hand-written ones have.
  def stage_sources
    FileUtils.rm_rf(@stage)
    copy("{*.gemspec,README.md}", ".")
    FileUtils.cp(File.join(HERE, "../../LICENSE"), @stage)
    copy("lib/**/*.rb", nil)
    copy("sig/*.rbs", nil)
    copy("ext/oneflow/*.{cpp,h,rb}", nil)
    copy("generated/*.rbs", "sig")
    copy("generated/documentation.rb", "doc")
    copy("generated/*.cpp", "ext/oneflow")
  end

  # Copies files of this folder, to `folder` or (nil) to where they are here.
  def copy(pattern, folder)
    Dir.glob(pattern, base: HERE).each do |file|
      target = File.join(@stage, folder || File.dirname(file))
      FileUtils.mkdir_p(target)
      FileUtils.cp(File.join(HERE, file), target)
    end
  end

  # The extension as `cmake --install` leaves it, finding its libraries beside itself, and those libraries under the
  # names by which they are looked up.
  def stage_libraries
    folder = File.join(@stage, "lib/oneflow")
    command = ["cmake", "--install", @build, "--component", "ruby", "--prefix", folder]
    system(*command, out: File::NULL, exception: true)
    Dir[File.join(@build, "lib/*.so.*")].grep(/\.so\.\d+\z/).each do |library|
      FileUtils.cp(File.realpath(library), File.join(folder, File.basename(library)))
    end
    devices = File.join(@build, "lib/oneflow_devices")
    FileUtils.cp_r(devices, folder) if Dir.exist?(devices)
  end

  def specification = Dir.chdir(@stage) { Gem::Specification.load("oneflow-rb.gemspec") }

  # An extension is made for one minor version of Ruby.
  def platform_specification
    specification.dup.tap do |spec|
      spec.platform = Gem::Platform.local
      spec.extensions = []
      spec.files = Dir.glob("{README.md,LICENSE,{lib,sig,doc}/**/*.{rb,rbs,so,so.*}}", base: @stage)
      spec.required_ruby_version = "~> #{RUBY_VERSION[/\d+\.\d+/]}.0"
    end
  end

  def pack(spec)
    file = File.join(@dist, spec.file_name)
    Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) do
      Dir.chdir(@stage) { Gem::Package.build(spec, true, false, file) }
    end
    puts file
  end
end

abort "usage: ruby package.rb BUILD DIST" unless ARGV.size == 2
GemPackager.new(*ARGV).run
