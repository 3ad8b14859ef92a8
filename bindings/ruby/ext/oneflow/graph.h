// Graphs: what lib/oneflow/graph.rb and lib/oneflow/capture.rb are made of.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

void define_graphs(VALUE module);

}  // namespace oneflow::ruby
