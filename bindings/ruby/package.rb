# frozen_string_literal: true

# Builds the gems into the folder DIST: `ruby package.rb BUILD DIST`, where BUILD is CMake's build folder.
#
#  - oneflow-rb-VERSION.gem, the source gem: compiles its extension against an installed liboneflow;
#  - oneflow-rb-VERSION-PLATFORM.gem, the platform gem: contains the compiled extension and the libraries.

require "fileutils"
require "rubygems/package"

# Collects the files of both gems in a staging folder and packs the gems from it.
class GemPackager
  HERE = __dir__

  def initialize(build, dist)
    @build = File.expand_path(build)
    @dist = File.expand_path(dist)
    @stage = File.join(@build, "gem")
  end

  # Builds both gems and prints their paths.
  def run
    FileUtils.mkdir_p(@dist)
    stage_sources
    pack(specification)
    stage_libraries
    pack(platform_specification)
  end

  private

  # Copies the sources; generated files go into the folders of their hand-written counterparts.
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

  # Copies the files that match `pattern` into `folder` of the staging folder; nil keeps their relative folders.
  def copy(pattern, folder)
    Dir.glob(pattern, base: HERE).each do |file|
      target = File.join(@stage, folder || File.dirname(file))
      FileUtils.mkdir_p(target)
      FileUtils.cp(File.join(HERE, file), target)
    end
  end

  # Installs the extension, whose rpath is its own folder, and copies the libraries there under their sonames.
  def stage_libraries
    folder = File.join(@stage, "lib/oneflow")
    command = ["cmake", "--install", @build, "--component", "ruby", "--prefix", folder]
    system(*command, out: File::NULL, exception: true)
    Dir[File.join(@build, "lib/*.so.*")].grep(/\.so\.\d+\z/).each do |library|
      FileUtils.cp(File.realpath(library), File.join(folder, File.basename(library)))
    end
    FileUtils.cp(%w[liboneflow_onnx.so oneflow-probe].map { |name| File.join(@build, "lib", name) }, folder)
    devices = File.join(@build, "lib/oneflow_devices")
    FileUtils.cp_r(devices, folder) if Dir.exist?(devices)
  end

  def specification = Dir.chdir(@stage) { Gem::Specification.load("oneflow-rb.gemspec") }

  # Returns the specification of the platform gem. Ruby's binary interface is only stable within a minor version.
  def platform_specification
    specification.dup.tap do |spec|
      spec.platform = Gem::Platform.local
      spec.extensions = []
      spec.files = Dir.glob("{README.md,LICENSE,lib/oneflow/oneflow-probe,{lib,sig,doc}/**/*.{rb,rbs,so,so.*}}",
                            base: @stage)
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
