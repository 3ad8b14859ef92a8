# frozen_string_literal: true

require_relative "installed_gems"

# Tests that YARD documents all public methods from what is in the gem, and has nothing to complain about.
class DocumentationTest < GemsTest
  # Prints the paths of all documented methods.
  LIST = 'require "yard"; YARD::Registry.load!; ' \
         "puts YARD::Registry.all(:method).reject { _1.docstring.blank? }.map(&:path)"
  # The functions of Autograd are for the methods of OneFlow and Tensor.
  MODULES = [OneFlow, *OneFlow.constants.map { OneFlow.const_get(_1) }.grep(Module)] - [OneFlow::Autograd]

  def test_every_public_method_is_documented
    Dir.mktmpdir do |folder|
      Gem::Package.new(gem_file).extract_files(folder)
      # Without templates, which take long; `make test-long` writes the pages.
      pages = ENV["ONEFLOW_VECTORS"] == "all" ? [] : ["--no-output"]
      command = %w[yard doc --fail-on-warning --no-stats --no-progress] + pages
      output, status = Open3.capture2e(*command, chdir: folder)
      assert_predicate status, :success?, output
      assert_empty output
      documented = Open3.capture2e(RbConfig.ruby, "-e", LIST, chdir: folder).first.lines(chomp: true)
      assert_empty public_methods_of_all - documented
    end
  end

  private

  def public_methods_of_all
    MODULES.flat_map do |owner|
      next owner.members.map { |name| "#{owner}##{name}" } if owner < Struct

      instance = owner.public_instance_methods(false).map { |name| "#{owner}##{name}" }
      instance + owner.singleton_methods(false).map { |name| "#{owner}.#{name}" }
    end
  end
end
