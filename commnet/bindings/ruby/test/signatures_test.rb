# frozen_string_literal: true

require_relative "helper"

# The signatures in sig/commnet.rbs name all public methods, and no others.
class SignaturesTest < CommnetTest
  FILE = File.expand_path("../sig/commnet.rbs", __dir__)
  # Methods that every object has, of which a class has its own.
  GENERAL = %i[inspect == eql? hash initialize_copy to_s].freeze

  def test_all_public_methods_have_signatures
    Commnet.constants.map { |name| Commnet.const_get(name) }.grep(Class).each do |type|
      next if type <= Exception

      defined = type.public_instance_methods(false) - GENERAL
      assert_equal defined.sort, signatures(type).sort, type.name
    end
  end

  def test_the_signatures_are_valid
    require "rbs"
    loader = RBS::EnvironmentLoader.new
    loader.add(path: Pathname(FILE).parent)
    environment = RBS::Environment.from_loader(loader).resolve_type_names
    builder = RBS::DefinitionBuilder.new(env: environment)
    names = environment.class_decls.keys.select { |name| name.to_s.start_with?("::Commnet") }
    names.each do |name|
      builder.build_instance(name)
      builder.build_singleton(name)
    end
    assert_includes names.map(&:to_s), "::Commnet::Endpoint"
  rescue LoadError
    skip "the gem rbs is not installed"
  end

  private

  def signatures(type)
    body = File.read(FILE)[/^  class #{type.name.split("::").last}\b.*?^  end$/m]
    body.scan(/^    (?:def|attr_reader|alias) ([a-z_]+[?=]?|\[\]=?)(?=[: ])/).flatten.map(&:to_sym) -
      %i[initialize to_s]
  end
end
