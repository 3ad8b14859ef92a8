# frozen_string_literal: true

require_relative "lib/commnet/version"

# The source gem: its extension is compiled on installation, against an installed libcommnet.
Gem::Specification.new do |spec|
  spec.name = "commnet"
  spec.version = Commnet::VERSION
  spec.summary = "Messages between processes, and reads and writes of each other's memory"
  spec.description = "The Ruby binding of commnet, a communication library for the processes of a job."
  spec.authors = ["The commnet authors"]
  spec.license = "Apache-2.0"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  spec.files = Dir.glob("{LICENSE,*.md,lib/**/*.rb,sig/*.rbs,ext/commnet/*.{cpp,h,rb}}", base: __dir__)
  spec.extensions = ["ext/commnet/extconf.rb"]
  spec.require_paths = ["lib"]
  spec.extra_rdoc_files = ["README.md"]
end
