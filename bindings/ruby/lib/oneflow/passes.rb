# frozen_string_literal: true

module OneFlow
  # The passes over graphs, and rules of the program.
  class Graph
    # A pass: what it does, from which level on `optimize` runs it, and the largest relative error that one of its
    # changes causes.
    PassInfo = Struct.new(:name, :summary, :level, :error)

    # What a pass has done, with the measured error; NaN if it was not measured.
    PassReport = Struct.new(:name, :changes, :calls_before, :calls_after, :error)

    # What passes have done to a graph, with the error of all together; `to_s` returns a table.
    Report = Struct.new(:passes, :error, :table) do
      alias_method :to_s, :table
    end

    # A rule of the program: see Graph.rule.
    Rule = Struct.new(:name, :left, :constants, :right, :error)

    # Returns a rule: where a graph makes the calls of the lambda `left`, it makes those of `right` instead.
    def self.rule(left, right, example_inputs, condition: nil, constants: [], name: "rule", error: 1e-6)
      applied = lambda do |tensors|
        right.call(*tensors) if condition.nil? || condition.call(*tensors)
      end
      names = constants.map { |each| Nodes.text("rule: a constant", each) }
      Rule.new(Nodes.text("rule: the name", name), capture(example_inputs, &left), names, applied, Float(error))
    end

    # Returns all passes, in the order in which they run.
    def self.passes = pass_list.map { |pass| PassInfo.new(*pass) }

    # What the passes have done that made this graph; nil for one that `optimize` has not made.
    attr_reader :report

    # Returns a graph that computes the same with fewer or faster calls. Its `report` says what each pass has done.
    def optimize(level: 2, inputs: nil, without: [], measure: true, rules: [], weights: nil)
      raise TypeMismatch, "optimize: level must be Integer, got #{Autograd.class_of(level)}" unless level.is_a?(Integer)

      names = Array(without).map { |name| Nodes.text("optimize: a name in without", name) }
      stored = weights && Nodes.text("optimize: weights", weights)
      with_report(optimized(level, names, Nodes.flag(:optimize, :measure, measure), examples(inputs), parts_of(rules),
                            false, stored))
    end

    # Returns a graph to which rules were applied, and nothing else.
    def rewrite(*rules, inputs: nil, measure: true)
      measures = Nodes.flag(:rewrite, :measure, measure)
      with_report(optimized(0, [], measures, examples(inputs), parts_of(rules), true, nil))
    end

    private

    # Returns the inputs of the runs that measure errors.
    def examples(inputs)
      return [] if inputs.nil?

      tensors_of(:optimize, inputs.is_a?(Array) ? inputs : [inputs], {})
    end

    def parts_of(rules)
      rules.map do |rule|
        next rule.to_a if rule.is_a?(Rule)

        raise TypeMismatch, "optimize: an item of rules must be Rule, got #{Autograd.class_of(rule)}"
      end
    end

    def with_report(result)
      graph, passes, error, table = result
      graph.__send__(:prepare, Report.new(passes.map { |pass| PassReport.new(*pass) }, error, table))
    end
  end
end
