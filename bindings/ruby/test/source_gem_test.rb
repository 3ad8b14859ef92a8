# frozen_string_literal: true

require_relative "installed_gems"

# Tests the gem that compiles itself. `make test-long` compiles all of it, other runs the extension alone.
class SourceGemTest < GemsTest
  PROGRAM = 'require "oneflow"; print OneFlow.tensor([0.0, 1.0]).exp.to_a.map { |number| number.round(4) }'
  PRINTED = "[1.0, 2.7183]"

  def test_the_extension_compiles_against_an_installed_library
    Dir.mktmpdir do |folder|
      prefix = File.join(folder, "prefix")
      output, status = Open3.capture2e("cmake", "--install", BUILD, "--prefix", prefix)
      assert_predicate status, :success?, output
      compile(folder, "--", "--with-oneflow-dir=#{prefix}") do |home|
        assert_equal PRINTED, run_installed(home, PROGRAM)
        assert_empty Dir[File.join(folder_of(home), "lib/oneflow/liboneflow*")]
      end
    end
  end

  def test_the_library_compiles_with_the_extension
    skip "make test-long compiles liboneflow" unless ENV["ONEFLOW_VECTORS"] == "all"
    Dir.mktmpdir do |folder|
      compile(folder) do |home|
        assert_equal PRINTED, run_installed(home, PROGRAM)
        library = run_installed(home, "#{PROGRAM}; print File.read('/proc/self/maps')[%r{/.*/liboneflow.so.*}]")
        assert_includes library, "#{home}/"
        assert_empty Dir[File.join(folder_of(home), "build-gem")]
      end
    end
  end

  def test_an_error_names_what_is_missing
    fails = "echo utf8proc not found; exit 1"
    {
      { "cmake" => nil } => "oneflow-rb needs CMake to compile liboneflow: install it",
      { "cmake" => fails, RbConfig::CONFIG["CXX"] => "exit 1" } => "oneflow-rb needs a compiler for C++20",
      { "cmake" => fails } => "utf8proc not found\noneflow-rb: liboneflow could not be compiled"
    }.each do |scripts, text|
      with_programs(scripts) do |path|
        Dir.mktmpdir do |home|
          output, status = install_into(home, gem_file(platform: false), environment: { "PATH" => path })
          refute_predicate status, :success?
          assert_includes output, text
        end
      end
    end
  end

  private

  # Installs the gem with the compiler's cache, and yields the folder.
  def compile(folder, *options)
    home = File.join(folder, "home")
    base = options.empty? ? File.join(home, "gems/oneflow-rb-#{OneFlow::VERSION}") : folder
    path = "/usr/lib/ccache:#{ENV.fetch("PATH")}"
    environment = { "PATH" => path, "CCACHE_BASEDIR" => base, "CCACHE_NOHASHDIR" => "1" }
    output, status = install_into(home, gem_file(platform: false), options:, environment:)
    assert_predicate status, :success?, output
    yield home
  end

  # Yields a path of this system's programs, some of which are scripts instead, or are missing.
  def with_programs(scripts)
    Dir.mktmpdir do |folder|
      names = Dir.children("/usr/bin") - scripts.keys
      names.each { |name| File.symlink("/usr/bin/#{name}", File.join(folder, name)) }
      scripts.compact.each { |name, text| File.write(File.join(folder, name), "#!/bin/sh\n#{text}\n", perm: 0o755) }
      yield folder
    end
  end
end
