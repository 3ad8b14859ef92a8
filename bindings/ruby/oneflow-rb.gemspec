# frozen_string_literal: true

require_relative "lib/oneflow/version"

# The source gem: its extension is compiled on installation, against an installed liboneflow. package.rb derives the
# platform gem from this specification; that gem contains the compiled extension and the libraries.
Gem::Specification.new do |spec|
  spec.name = "oneflow-rb"
  spec.version = OneFlow::VERSION
  spec.summary = "Tensors for Ruby, on the oneflow runtime"
  spec.description = "Tensors with PyTorch's semantics in idiomatic Ruby."
  spec.authors = ["The oneflow authors"]
  spec.license = "Apache-2.0"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  spec.files = Dir.glob("{README.md,LICENSE,lib/**/*.rb,doc/*.rb,sig/*.rbs,ext/oneflow/*.{cpp,h,rb}}", base: __dir__)
  spec.extensions = ["ext/oneflow/extconf.rb"]
  spec.require_paths = ["lib"]
  spec.extra_rdoc_files = ["README.md", *Dir.glob("doc/*.rb", base: __dir__)]
end
