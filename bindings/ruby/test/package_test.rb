# frozen_string_literal: true

require "digest"
require "json"
require "webrick"
require "yaml"
require_relative "installed_gems"

# Tests what the gems contain, and that they work once they are installed.
class PackageTest < GemsTest
  LIMITS = JSON.parse(File.read(File.expand_path("../../../tests/limits.json", __dir__)))
  MODEL = File.expand_path("../../../tests/data/onnx/layer.onnx", __dir__)
  PROGRAM = <<~RUBY.freeze
    require "oneflow-rb"
    here = $LOADED_FEATURES.grep(/oneflow/).all? { |file| file.start_with?(ENV["GEM_HOME"]) }
    print OneFlow.tensor([0.0, 1.0]).exp.to_a.map { |number| number.round(4) }, " ", here
    print " ", OneFlow::Onnx.load(#{MODEL.inspect}).call(OneFlow.ones(1, 3)).to_a
  RUBY
  PRINTED = "[1.0, 2.7183] true [[9.5, 0.0]]"
  DEVICES = 'require "oneflow"; puts OneFlow.devices.map(&:type).uniq.join(" ")'

  def test_names_and_metadata
    specifications = Dir[File.join(GemsTest.gems, "*.gem")].map { |file| specification(file) }
    assert_equal %w[oneflow-rb oneflow-rb oneflow-rb-far oneflow-rb-far], specifications.map(&:name).sort
    specifications.each do |spec|
      assert_equal [OneFlow::VERSION, ["Apache-2.0"], "true"],
                   [spec.version.to_s, spec.licenses, spec.metadata["rubygems_mfa_required"]]
      assert_empty %w[LICENSE VERSION] - spec.files, spec.full_name
    end
    assert_equal ["= #{OneFlow::VERSION}"],
                 specification(gem_file("oneflow-rb-far")).dependencies.map { _1.requirement.to_s }
  end

  def test_binaries_name_their_c_library
    [gem_file, gem_file("oneflow-rb-far")].each do |file|
      assert file.end_with?("-#{RbConfig::CONFIG["host_cpu"]}-linux-gnu.gem"), file
      spec = specification(file)
      assert_equal "#{RbConfig::CONFIG["host_cpu"]}-linux-gnu", spec.original_platform
      # 3.3.7 comes with Ruby 3.1.2 and does not see that a gem is not for musl; 3.3.15 is that of Debian 12.
      accepted = %w[3.3.7 3.3.15 3.3.22].select { spec.required_rubygems_version.satisfied_by?(Gem::Version.new(_1)) }
      assert_equal %w[3.3.15 3.3.22], accepted
    end
  end

  def test_a_folder_for_each_version_of_ruby
    spec = specification(gem_file)
    versions = spec.files.grep(%r{\Alib/oneflow/.*/oneflow\.so\z}).map { |file| file.split("/")[-2] }
    assert_includes versions, RUBY_VERSION[/\d+\.\d+/]
    versions.each { assert spec.required_ruby_version.satisfied_by?(Gem::Version.new("#{_1}.9")), _1 }
    newest = versions.max_by { |version| Gem::Version.new(version) }
    refute spec.required_ruby_version.satisfied_by?(Gem::Version.new("#{newest.next}.0.preview1"))
    refute spec.required_ruby_version.satisfied_by?(Gem::Version.new("3.0.6"))
    assert_equal 1, spec.files.grep(/liboneflow\.so/).size
    assert_empty spec.files.grep(/oneflow_devices/)
    assert_operator File.size(gem_file), :<=, LIMITS["package_bytes"]
  end

  def test_signatures_are_valid
    signatures = %w[sig/classes.rbs sig/functions.rbs sig/manifest.yaml sig/oneflow.rbs]
    assert_equal signatures, specification(gem_file).files.grep(/\Asig/)
    Dir.mktmpdir do |folder|
      Gem::Package.new(gem_file).extract_files(folder, "sig/*")
      libraries = YAML.load_file(File.join(folder, "sig/manifest.yaml"))["dependencies"].flat_map { ["-r", _1["name"]] }
      program = "RBS::CLI.new(stdout: $stdout, stderr: $stderr).run(ARGV)"
      command = [RbConfig.ruby, "-r", "rbs", "-r", "rbs/cli", "-e", program, "--", *libraries, "-I", "sig", "validate"]
      output, status = Open3.capture2e(*command, chdir: folder)
      assert_predicate status, :success?, output
      assert_includes output, "`::OneFlow::Tensor`"
    end
  end

  def test_builds_are_reproducible
    digests = lambda do |folder|
      Dir.children(folder).to_h { |name| [name, Digest::SHA256.file(File.join(folder, name)).hexdigest] }
    end
    Dir.mktmpdir do |folder|
      before = File.umask(0o077)
      GemsTest.build(folder)
      assert_equal digests.call(GemsTest.gems), digests.call(folder)
    ensure
      File.umask(before)
    end
  end

  # Of all files that the compiler has read for liboneflow, which Ninja has noted.
  def test_the_source_gem_has_all_sources
    root = File.expand_path("../..", HERE)
    objects = Open3.capture2("ninja", "-C", BUILD, "-t", "deps").first.split("\n\n")
    objects = objects.grep(%r{\Aruntime/\S*CMakeFiles/oneflow[^/]*\.dir/})
    read = objects.flat_map { |text| text.lines(chomp: true).drop(1) }.uniq
    needed = read.map { |file| File.expand_path(file.strip, BUILD).delete_prefix("#{root}/") }.grep(%r{\Aruntime/})
    assert_operator needed.size, :>, 300
    spec = specification(gem_file(platform: false))
    assert_empty needed - spec.files
    assert_empty %w[ext/oneflow/functions.cpp CMakeLists.txt cmake/BuildSettings.cmake] - spec.files
    assert_empty spec.files.grep(%r{/tests/|\.so})
    assert_equal ["ext/oneflow/extconf.rb"], spec.extensions
  end

  def test_both_gems_have_the_headers_for_extensions
    [true, false].each do |is_compiled|
      files = specification(is_compiled ? gem_file : gem_file(platform: false)).files
      assert_empty %w[oneflow.hpp operators.hpp extension.hpp ruby.h].map { |name| "include/oneflow/#{name}" } - files
    end
  end

  def test_the_gem_with_binaries_needs_no_compiler
    install(gem_file, environment: { "PATH" => "/nowhere" }) do |home|
      assert_equal PRINTED, run_installed(home, PROGRAM, PATH: "/nowhere")
      assert_equal "cpu\n", run_installed(home, DEVICES)
      assert File.executable?(File.join(folder_of(home), "lib/oneflow/oneflow-probe"))
    end
  end

  def test_the_command_starts_ranks
    install(gem_file) do |home|
      command = [RbConfig.ruby, File.join(home, "bin/oneflow-run")]
      run = ->(*arguments) { Open3.capture2e({ **only(home), **clean }, *command, *arguments) }
      assert_equal "oneflow-run #{OneFlow::VERSION}\n", run.call("--version").first
      output, status = run.call("-n", "2", "sh", "-c", "echo $ONEFLOW_RANK")
      assert_predicate status, :success?
      assert_equal ["[0] 0", "[1] 1"], output.lines(chomp: true).sort
      assert_equal 3, run.call("-n", "2", "sh", "-c", "exit 3").last.exitstatus
    end
  end

  def test_a_system_without_a_plugin
    Dir.mktmpdir do |home|
      output, status = install_into(home, gem_file("oneflow-rb-far", platform: false), options: ["--force"])
      refute_predicate status, :success?
      assert_includes output, "oneflow-rb-far #{OneFlow::VERSION} has no binaries for #{RUBY_PLATFORM}"
      assert_includes output, "make build-device-far"
    end
  end

  # An index of files, as `gem generate_index` writes it, served by this process.
  def test_installation_by_name
    Dir.mktmpdir do |folder|
      FileUtils.mkdir(File.join(folder, "gems"))
      FileUtils.cp(Dir[File.join(GemsTest.gems, "*.gem")], File.join(folder, "gems"))
      run_gem({}, "generate_index", "--silent", "--directory", folder)
      serve(folder) do |address|
        output, = run_gem(only(File.join(folder, "home")), "install", "--no-document", "--clear-sources",
                          "--source", address, "oneflow-rb-far")
        assert_match(/oneflow-rb-far-#{OneFlow::VERSION}-.*linux/, output)
      end
      assert_equal "cpu far\n", run_installed(File.join(folder, "home"), DEVICES)
    end
  end

  def test_plugins_of_other_gems_are_found
    install(gem_file, gem_file("oneflow-rb-far")) do |home|
      assert_equal "cpu far\n", run_installed(home, DEVICES)
      folders = %w[oneflow-rb oneflow-rb-far].flat_map { |name| ["-I", File.join(folder_of(home, name), "lib")] }
      assert_equal "cpu far\n", run_installed(home, DEVICES, "--disable-gems", *folders)
    end
  end

  def test_bundler_finds_the_plugins_of_a_bundle
    install(gem_file, gem_file("oneflow-rb-far")) do |home|
      { 'gem "oneflow-rb"' => "cpu\n", 'gem "oneflow-rb-far"' => "cpu far\n" }.each do |line, devices|
        gemfile = File.join(home, "Gemfile")
        File.write(gemfile, "#{line}\n")
        FileUtils.rm_f("#{gemfile}.lock")
        program = DEVICES.sub('require "oneflow"', "Bundler.require")
        assert_equal devices, run_installed(home, program, "-rbundler/setup", BUNDLE_GEMFILE: gemfile)
      end
    end
  end

  private

  # Serves the files of a folder on this machine while the block runs.
  def serve(folder)
    server = WEBrick::HTTPServer.new(Port: 0, BindAddress: "127.0.0.1", DocumentRoot: folder, AccessLog: [],
                                     Logger: WEBrick::Log.new(nil, 0))
    thread = Thread.new { server.start }
    yield "http://127.0.0.1:#{server.config[:Port]}"
  ensure
    server.shutdown
    thread.join
  end
end
