# frozen_string_literal: true

require "fileutils"
require "rbs"

# Writes the documentation of what is written in C++ as Ruby code for YARD and RDoc, which nothing loads. That of the
# operators is generated from their definitions; that of the rest follows from the signatures.
class Documentation
  # The comment of a generated method: the call sequences of its overloads, and the text.
  COMMENT = /^(?<indent> *)# :call-seq:\n(?<calls>(?:\k<indent>#   .+\n)+)\k<indent>#\n(?<text>(?:\k<indent>#.*\n)+)/
  CALL = /\A *(?<call>\S.*) -> (?<result>.+)\z/

  # `here` is the folder of the front end.
  def initialize(here)
    @operators = File.read(File.join(here, "generated/documentation.rb"))
    @functions, *@signatures =
      %w[generated/functions.rbs generated/classes.rbs sig/oneflow.rbs].map { File.read(File.join(here, _1)) }
  end

  # Writes the files into a folder.
  def write(folder)
    FileUtils.mkdir_p(folder)
    File.write(File.join(folder, "operators.rb"), @operators.gsub(COMMENT) { tagged(Regexp.last_match) })
    # The generated documentation lacks Ruby's operators and the forms that work in place, whose names have signs.
    lines = [*module_of(@functions, /\W/), *@signatures.flat_map { module_of(_1, //) }]
    File.write(File.join(folder, "signatures.rb"), ["# frozen_string_literal: true", "", *lines, ""].join("\n"))
  end

  private

  # Returns a comment with a tag for each overload instead of the call sequences. If there are several, the text repeats
  # the call sequence before the text of its overload.
  def tagged(comment)
    calls, text = %w[calls text].map { |part| comment[part].lines.map { _1.sub(/^ *# ?/, "").rstrip } }
    lines = text & calls == [] ? [*text, *calls.flat_map { |call| ["", *overload(call)] }] : parts(text, calls)
    lines.map { |line| "#{comment["indent"]}# #{line}".rstrip }.join("\n") << "\n"
  end

  def parts(text, calls)
    text.slice_before { |line| calls.include?(line) }.flat_map do |call, *rest|
      overload(call, rest.drop_while(&:empty?).reverse.drop_while(&:empty?).reverse)
    end
  end

  def overload(call, text = [])
    found = CALL.match(call)
    ["@overload #{found[:call]}", *text.map { |line| "  #{line}".rstrip }, "  @return [#{type(found[:result])}]"]
  end

  # Returns a type of a signature in the notation of YARD.
  def type(text) = text.delete_suffix("?").tr("[]", "<>").gsub(" | ", ", ") << (text.end_with?("?") ? ", nil" : "")

  # Returns the code of a text of signatures with the methods whose names match a pattern.
  def module_of(text, names) = RBS::Parser.parse_signature(text).flat_map { |declaration| code(declaration, names) }

  def code(declaration, names)
    case declaration
    when RBS::AST::Declarations::Module, RBS::AST::Declarations::Class then scope(declaration, names)
    when RBS::AST::Declarations::Constant then [*text_of(declaration), "#{declaration.name} = nil", ""]
    when RBS::AST::Members::MethodDefinition
      declaration.name.match?(names) ? method(declaration, declaration.types) : []
    when RBS::AST::Members::Attribute then method(declaration, [])
    when RBS::AST::Members::Alias
      ["# The same as `#{declaration.old_name}`.", *definition(declaration, declaration.new_name)]
    else []
    end
  end

  def scope(declaration, names)
    keyword = declaration.is_a?(RBS::AST::Declarations::Class) ? "class" : "module"
    base = " < #{declaration.super_class.name}" if keyword == "class" && declaration.super_class
    [*text_of(declaration), "#{keyword} #{declaration.name}#{base}",
     *declaration.members.flat_map { |member| code(member, names) }.map { |line| "  #{line}".rstrip }, "end", ""]
  end

  def method(member, types)
    tags = types.flat_map { |type| ["#", *overload(call(member.name, type)).map { |line| "# #{line}" }] }
    [*text_of(member), *tags, *definition(member, member.name)]
  end

  def definition(member, name) = ["def #{"self." if member.kind == :singleton}#{name}(*) end", ""]

  def text_of(declaration) = (declaration.comment&.string || "").lines.map { |line| "# #{line}".rstrip }

  # Returns the call of a method, and its result, in the notation of the generated documentation. Signatures do not have
  # the defaults of arguments.
  def call(name, method_type)
    function = method_type.type
    keywords = function.required_keywords.keys.map { |key| "#{key}:" }
    keywords += function.optional_keywords.keys.map { |key| "#{key}: nil" }
    arguments = [*names(function.required_positionals), *names(function.optional_positionals, " = nil"),
                 *names([function.rest_positionals].compact).map { |rest| "*#{rest}" },
                 *names(function.trailing_positionals), *keywords]
    "#{name}(#{arguments.join(", ")}) -> #{function.return_type}"
  end

  def names(parameters, suffix = "")
    parameters.map { |parameter| "#{parameter.name || parameter.type.to_s[/\w+/].downcase}#{suffix}" }
  end
end
