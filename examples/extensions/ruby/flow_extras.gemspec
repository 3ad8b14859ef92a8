# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "flow_extras"
  spec.version = "1.0.0"
  spec.summary = "An extension of oneflow-rb in C++"
  spec.authors = ["The oneflow authors"]
  spec.license = "Apache-2.0"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }
  spec.files = Dir.glob("{ext,lib}/**/*.{cpp,hpp,rb}", base: __dir__)
  spec.extensions = ["ext/flow_extras/extconf.rb"]
  spec.add_dependency "oneflow-rb"
end
