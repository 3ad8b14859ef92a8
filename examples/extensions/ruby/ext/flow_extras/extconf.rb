# frozen_string_literal: true

require "mkmf"
require "oneflow"

# rubocop:disable Style/GlobalVars
$INCFLAGS << " -I#{OneFlow.include_dir}"
$CXXFLAGS << " -std=c++20 -fvisibility=hidden"
$DLDFLAGS << " -Wl,-z,now"
$LOCAL_LIBS << " #{OneFlow.library_path}"
create_makefile("flow_extras/native")
# rubocop:enable Style/GlobalVars
