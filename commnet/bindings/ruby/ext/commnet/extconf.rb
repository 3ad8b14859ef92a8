# frozen_string_literal: true

# Builds the extension of the source gem against an installed libcommnet, which is found by pkg-config or specified by
# `gem install commnet -- --with-commnet-dir=PREFIX`.

require "mkmf"

_, library_folder = dir_config("commnet")
pkg_config("commnet")
$LDFLAGS << " -Wl,-rpath,#{library_folder}" if library_folder # rubocop:disable Style/GlobalVars

unless have_header("commnet/commnet.h") && have_library("commnet", "cn_version")
  abort "libcommnet was not found; specify its location with --with-commnet-dir=PREFIX"
end

$CXXFLAGS << " -std=c++20 -O2 -fno-exceptions -fno-rtti" # rubocop:disable Style/GlobalVars
create_makefile("commnet/commnet")
