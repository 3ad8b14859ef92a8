# frozen_string_literal: true

# The source gem, which compiles liboneflow and the extension when it is installed. package.rb derives from this the gem
# with binaries, and puts files of other folders of the repository beside it.
root = [__dir__, File.expand_path("../..", __dir__)].find { |folder| File.exist?(File.join(folder, "VERSION")) }

Gem::Specification.new do |spec|
  spec.name = "oneflow-rb"
  spec.version = File.read(File.join(root, "VERSION")).strip
  spec.summary = "Tensors for Ruby, on the oneflow runtime"
  spec.description = "Tensors with PyTorch's semantics in idiomatic Ruby: operators, gradients, graphs, ONNX, devices."
  spec.authors = ["The oneflow authors"]
  spec.license = "Apache-2.0"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }
  # Where the project is, when a release is made.
  address = ENV.fetch("ONEFLOW_REPOSITORY", "")
  unless address.empty?
    spec.homepage = address
    spec.metadata.update("source_code_uri" => address, "bug_tracker_uri" => "#{address}/issues",
                         "changelog_uri" => "#{address}/blob/v#{spec.version}/CHANGELOG.md")
  end

  folders = "{cmake,commnet,doc,exe,ext,include,lib,runtime,sig}/**/*"
  patterns = ["*.md", ".yardopts", "LICENSE", "VERSION", "CMakeLists.txt", folders]
  files = Dir.glob(patterns, base: __dir__).select { |file| File.file?(File.join(__dir__, file)) }.sort
  spec.files = files
  spec.extensions = ["ext/oneflow/extconf.rb"]
  spec.require_paths = ["lib"]
  spec.bindir = "exe"
  spec.executables = files.grep(%r{\Aexe/}) { File.basename(_1) } # the gems of devices have none
  spec.extra_rdoc_files = Dir.glob("{README.md,doc/*.rb}", base: __dir__)
end
