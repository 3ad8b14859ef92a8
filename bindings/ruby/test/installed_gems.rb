# frozen_string_literal: true

require "English"
require "fileutils"
require "rubygems/package"
require "tmpdir"
require_relative "helper"

# The base class of tests with gems, which are built once from the payload of the build folder. The only device plugin
# among them is `far`, which the build compiles for tests.
class GemsTest < OneFlowTest
  HERE = File.expand_path("..", __dir__)
  PAYLOAD = File.join(BUILD, "payload")
  EPOCH = "1700000000"

  # Returns the folder with the gems.
  def self.gems
    @@gems ||= Dir.mktmpdir.tap do |folder| # rubocop:disable Style/ClassVars
      Minitest.after_run { FileUtils.rm_rf(folder) }
      build(folder)
    end
  end

  # Builds the gems into a folder.
  def self.build(folder)
    Dir.mktmpdir do |payload|
      %w[include runtime ruby notices].each { |part| FileUtils.cp_r(File.join(PAYLOAD, part), payload) }
      FileUtils.mkdir_p(File.join(payload, "devices/far"))
      FileUtils.cp(File.join(BUILD, "test_plugins/far.so"), File.join(payload, "devices/far"))
      command = [{ "SOURCE_DATE_EPOCH" => EPOCH }, RbConfig.ruby, File.join(HERE, "package.rb"), payload, folder]
      output, status = Open3.capture2e(*command)
      raise output unless status.success?
    end
  end

  # Returns the path of a gem: of `oneflow-rb`, or of a plugin; with `platform`, of the one with binaries.
  def gem_file(name = "oneflow-rb", platform: true)
    files = Dir[File.join(GemsTest.gems, "#{name}-#{OneFlow::VERSION}*.gem")]
    files.find { |file| file.include?("linux") == platform } || flunk("there is no gem #{name}")
  end

  def specification(file) = Gem::Package.new(file).spec

  # Installs gems into an empty folder, and yields it.
  def install(*files, options: [], environment: {})
    Dir.mktmpdir do |home|
      output, status = install_into(home, *files, options:, environment:)
      assert_predicate status, :success?, output
      yield home
    end
  end

  # Returns what an installation into a folder prints, and its status.
  def install_into(home, *files, options: [], environment: {})
    run_gem({ **only(home), **environment }, "install", "--local", "--no-document", *files, *options)
  end

  # Runs a command of RubyGems, and returns what it prints, and its status.
  def run_gem(environment, *arguments)
    command = [RbConfig.ruby, "-S", File.join(RbConfig::CONFIG["bindir"], "gem"), *arguments]
    Open3.capture2e({ **clean, **environment }, *command)
  end

  # Runs a program with the installed gems, and returns what it prints, and its messages.
  def run_installed(home, program, *options, **environment)
    variables = { **only(home), **clean, **environment.transform_keys(&:to_s) }
    Open3.capture2e(variables, RbConfig.ruby, *options, "-e", program).first
  end

  # Returns the folder of an installed gem.
  def folder_of(home, name = "oneflow-rb") = Dir[File.join(home, "gems/#{name}-#{OneFlow::VERSION}*")].fetch(0)

  # Returns the variables with which RubyGems sees the gems of one folder.
  def only(home) = { "GEM_HOME" => home, "GEM_PATH" => home }

  private

  # The tests may run with other gems and plugins, which the programs must not see.
  def clean = { "RUBYLIB" => nil, "RUBYOPT" => nil, "BUNDLE_GEMFILE" => nil, "ONEFLOW_DEVICE_PATH" => nil }
end
