# frozen_string_literal: true

# Builds the extension of the source gem against an installed liboneflow, which is found by pkg-config or specified by
# `gem install oneflow-rb -- --with-oneflow-dir=PREFIX`.

require "mkmf"

_, library_folder = dir_config("oneflow")
pkg_config("oneflow")
$LDFLAGS << " -Wl,-rpath,#{library_folder}" if library_folder # rubocop:disable Style/GlobalVars

unless have_header("oneflow/oneflow.h") && have_library("oneflow", "of_version")
  abort "liboneflow was not found; specify its location with --with-oneflow-dir=PREFIX"
end

$CXXFLAGS << " -std=c++20 -O2 -fno-exceptions -fno-rtti" # rubocop:disable Style/GlobalVars
generated = File.expand_path("../../generated", __dir__)
if File.directory?(generated)
  $VPATH << generated # rubocop:disable Style/GlobalVars
  $srcs = Dir[File.join(__dir__, "*.cpp"), File.join(generated, "*.cpp")] # rubocop:disable Style/GlobalVars
  $INCFLAGS << " -I$(srcdir)" # rubocop:disable Style/GlobalVars
end
create_makefile("oneflow/oneflow")
