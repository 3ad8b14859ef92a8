# frozen_string_literal: true

require "rbs"
require_relative "helper"

# Tests that every public name has a documented signature, and that every signature is that of a public name.
class SignaturesTest < OneFlowTest
  FILES = Dir[File.expand_path("../sig/*.rbs", __dir__), File.expand_path("../generated/*.rbs", __dir__)]
  def setup
    @members = Hash.new { |all, owner| all[owner] = {} }
    @members["constants"] = { Tensor: true }
    FILES.each { |file| RBS::Parser.parse_signature(File.read(file)).each { |part| collect(part, "OneFlow") } }
  end

  def test_functions
    assert_same_names OneFlow.singleton_methods(false), "OneFlow"
    assert_same_names OneFlow::Comm::Local.singleton_methods(false), "Local"
    assert_same_names OneFlow::NN::Functional.singleton_methods(false), "Functional"
  end

  def test_methods
    assert_same_names OneFlow::Tensor.public_instance_methods(false), "Tensor"
    with_state = OneFlow.const_get(:ObjectWithState).public_instance_methods
    assert_same_names [:initialize, *with_state, *OneFlow::Generator.public_instance_methods(false)], "Generator"
    assert_same_names OneFlow::EinsumExpression.public_instance_methods(false), "EinsumExpression"
    assert_same_names OneFlow::EinsumPath.members, "EinsumPath"
    assert_same_names OneFlow::Graph.public_instance_methods(false) + OneFlow::Graph.singleton_methods(false), "Graph"
    assert_same_names OneFlow::Graph::ValueInfo.members, "ValueInfo"
  end

  def test_classes_and_constants
    assert_same_names OneFlow.constants, "constants"
    assert_same_names OneFlow::Autograd.constants, "constants of Autograd"
  end

  def test_every_signature_has_documentation
    @members.each { |owner, all| assert_empty all.reject { |_, comment| comment }.keys, owner }
  end

  def test_signatures_resolve
    assert builder.build_singleton(RBS::TypeName.new(name: :OneFlow, namespace: RBS::Namespace.root))
    assert tensor_definition
  end

  def test_operators_with_names_of_enumerable_methods_take_a_block
    shared = OneFlow::Tensor.public_instance_methods(false) & Enumerable.instance_methods & OneFlow.singleton_methods
    assert_includes shared, :sum
    shared.each { |name| assert tensor_definition.methods[name].method_types.any?(&:block), name }
  end

  private

  def builder
    loader = RBS::EnvironmentLoader.new
    FILES.map { |file| File.dirname(file) }.uniq.each { |folder| loader.add(path: Pathname(folder)) }
    RBS::DefinitionBuilder.new(env: RBS::Environment.from_loader(loader).resolve_type_names)
  end

  def tensor_definition
    @tensor_definition ||=
      builder.build_instance(RBS::TypeName.new(name: :Tensor, namespace: RBS::Namespace.parse("::OneFlow")))
  end

  def assert_same_names(defined, owner)
    assert_empty defined - @members[owner].keys, "without a signature"
    assert_empty @members[owner].keys - defined, "without a definition"
  end

  def constants_of(owner)
    owner == "OneFlow" ? "constants" : "constants of #{owner}"
  end

  # Modules of modules are declared by their whole names, and are no constants of the outermost one.
  def collect_constant(member, owner)
    name = member.name.name
    @members[constants_of(owner)][name] ||= member.comment if member.name.namespace.empty?
    collect(member, name.to_s) if member.respond_to?(:members)
  end

  def collect(declaration, owner)
    declaration.members.each do |member|
      case member
      when RBS::AST::Members::MethodDefinition then @members[owner][member.name] ||= member.comment
      when RBS::AST::Declarations::Constant, RBS::AST::Declarations::Class, RBS::AST::Declarations::Module
        collect_constant(member, owner)
      end
    end
  end
end
