# frozen_string_literal: true

require "English"
require "tmpdir"
require_relative "helper"

# Tests the gems: builds them from the build folder and installs each into an empty folder.
class PackageTest < OneFlowTest
  BUILD = File.expand_path(ENV.fetch("OF_BUILD", File.join(__dir__, "../../../build")))
  PROGRAM = <<~RUBY
    require "oneflow"
    here = $LOADED_FEATURES.grep(/oneflow/).all? { |file| file.start_with?(ENV["GEM_HOME"]) }
    print OneFlow.tensor([0.0, 1.0]).exp.to_a.map { |number| number.round(4) }, " ", here
    print " ", OneFlow::Onnx.load(ARGV[0]).call(OneFlow.ones(1, 3)).to_a
  RUBY
  MODEL = File.expand_path("../../../tests/data/onnx/layer.onnx", __dir__)
  PRINTED = "[1.0, 2.7183] true [[9.5, 0.0]]"

  def test_the_platform_gem_needs_no_compiler
    install("*-linux*.gem", [], { "PATH" => "/nowhere" }) do |run, home|
      assert_equal PRINTED, run.call
      loaded = Dir[File.join(home, "gems/*/lib/oneflow/*.so*")].map { |file| File.basename(file) }
      assert_includes loaded, "liboneflow.so.0"
      assert(Dir[File.join(home, "gems/*/lib/oneflow/oneflow-probe")].all? { |file| File.executable?(file) })
      refute_empty Dir[File.join(home, "gems/*/lib/oneflow/oneflow-probe")]
      devices = Dir.children(File.join(BUILD, "lib/oneflow_devices")).sort
      assert_equal devices, Dir[File.join(home, "gems/*/lib/oneflow/oneflow_devices/*")].map { File.basename(_1) }.sort
    end
  end

  def test_the_source_gem_compiles_against_an_installed_library
    Dir.mktmpdir do |prefix|
      run_quietly("cmake", "--install", BUILD, "--prefix", prefix)
      install("*-#{OneFlow::VERSION}.gem", ["--", "--with-oneflow-dir=#{prefix}"], { "MAKEFLAGS" => "-j2" }) do |run|
        assert_equal PRINTED, run.call
      end
    end
  end

  private

  # Builds the gems, installs the one whose file matches `pattern`, and yields a lambda that runs PROGRAM with it, and
  # the folder of the installation.
  def install(pattern, options, environment)
    Dir.mktmpdir do |folder|
      run_quietly(RbConfig.ruby, File.expand_path("../package.rb", __dir__), BUILD, folder)
      environment = environment.merge("GEM_HOME" => File.join(folder, "home"), "RUBYLIB" => nil, "RUBYOPT" => nil)
      gem = Dir[File.join(folder, pattern)].fetch(0)
      run_quietly(environment, RbConfig.ruby, "-S", File.join(RbConfig::CONFIG["bindir"], "gem"), "install", "--local",
                  "--no-document", gem, *options)
      yield -> { IO.popen([environment, RbConfig.ruby, "-e", PROGRAM, MODEL], &:read) }, environment["GEM_HOME"]
    end
  end

  def run_quietly(*command)
    output = IO.popen([*command, { err: %i[child out] }], &:read)
    assert_predicate $CHILD_STATUS, :success?, "#{command.grep(String).join(" ")}\n#{output}"
  end
end
