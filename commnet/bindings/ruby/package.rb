# frozen_string_literal: true

# Builds the gems into the folder DIST: `ruby package.rb BUILD DIST`, where BUILD is CMake's build folder.
#
#  - commnet-VERSION.gem, the source gem: compiles its extension against an installed libcommnet;
#  - commnet-VERSION-PLATFORM.gem, the platform gem: contains the compiled extension and libcommnet.

require "fileutils"
require "rubygems/package"

# Collects the files of both gems in a staging folder and packs the gems from it.
class GemPackager
  FILES = "{commnet.gemspec,README.md,lib/**/*.rb,sig/*.rbs,ext/commnet/*.{cpp,h,rb}}"

  def initialize(build, dist)
    @build = File.expand_path(build)
    @dist = File.expand_path(dist)
    @stage = File.join(@build, "gem")
  end

  # Builds both gems and prints their paths.
  def run
    FileUtils.mkdir_p(@dist)
    FileUtils.rm_rf(@stage)
    Dir.glob(FILES, base: __dir__).each { |file| copy(file) }
    FileUtils.cp(%w[LICENSE THIRD_PARTY.md].map { |file| File.join(__dir__, "../..", file) }, @stage)
    pack(specification)
    add_libraries
    pack(platform_specification)
  end

  private

  def copy(file)
    target = File.join(@stage, file)
    FileUtils.mkdir_p(File.dirname(target))
    FileUtils.cp(File.join(__dir__, file), target)
  end

  # Installs the extension, whose rpath is its own folder, and copies the library there under its soname.
  def add_libraries
    folder = File.join(@stage, "lib/commnet")
    command = ["cmake", "--install", @build, "--component", "ruby", "--prefix", folder]
    system(*command, out: File::NULL, exception: true)
    Dir[File.join(@build, "packaged/libcommnet.so.*")].grep(/\.so\.\d+\z/).each do |library|
      FileUtils.cp(File.realpath(library), File.join(folder, File.basename(library)))
    end
  end

  def specification = Dir.chdir(@stage) { Gem::Specification.load("commnet.gemspec") }

  # Returns the specification of the platform gem. Ruby's binary interface is only stable within a minor version.
  def platform_specification
    specification.dup.tap do |spec|
      spec.platform = Gem::Platform.local
      spec.extensions = []
      spec.files = Dir.glob("{LICENSE,*.md,{lib,sig}/**/*.{rb,rbs,so,so.*}}", base: @stage)
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
