# frozen_string_literal: true

# Builds the extension when the source gem is installed, with liboneflow, whose sources the gem has, too. An installed
# liboneflow of the same version can be used instead: `gem install oneflow-rb -- --with-oneflow-dir=PREFIX`.

require "etc"
require "mkmf"
require_relative "liboneflow"

# rubocop:disable Style/GlobalVars
# The folder with the version, and with the sources of liboneflow: that of the gem, or that of the repository.
root = %w[../.. ../../../..].map { |path| File.expand_path(path, __dir__) }.find { File.exist?("#{_1}/VERSION") }

begin
  program = "#include <concepts>\n#include <span>\nint main() { return 0; }"
  can_compile = MakeMakefile["C++"].try_compile(program, "-std=c++20")
rescue RuntimeError # there is no compiler at all
  can_compile = false
end
unless can_compile
  abort "oneflow-rb needs a compiler for C++20, such as g++ 11 or later: install it (the package g++, or its " \
        "equivalent on your system)"
end

folders = dir_config("oneflow")
unless folders.all?
  runtime = Liboneflow.new(root, File.expand_path("liboneflow"))
  runtime.build
  folders = runtime.folders
end
unless find_header("oneflow/oneflow.h", folders[0]) && find_library("oneflow", "of_version", folders[1])
  abort "oneflow-rb: no liboneflow was found in #{folders[1]}; --with-oneflow-dir=PREFIX says where it is installed"
end

$defs << "-DONEFLOW_VERSION='\"#{File.read("#{root}/VERSION").strip}\"'"
$CXXFLAGS << " -std=c++20 -O2 -g0 -fno-exceptions -fno-rtti"
# A liboneflow that was built with the extension is installed next to it. One that lacks a function is an error when the
# extension is loaded, and not the end of the process later.
$DLDFLAGS << " -Wl,-z,now -Wl,-rpath,#{runtime ? "'$$ORIGIN'" : folders[1]}"

# In the repository, generated sources are in a folder of their own.
folders_of_sources = Dir[__dir__, "#{__dir__}/*/", File.expand_path("../../generated", __dir__)]
$VPATH.concat(folders_of_sources)
$srcs = folders_of_sources.flat_map { |folder| Dir[File.join(folder, "*.cpp")] }
$INCFLAGS << " -I$(srcdir)"
create_makefile("oneflow/oneflow")
# rubocop:enable Style/GlobalVars

File.open("Makefile", "a") do |makefile|
  makefile.puts "MAKEFLAGS += -j#{Etc.nprocessors}"
  runtime&.write_rules(makefile)
end
