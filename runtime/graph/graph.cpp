#include "graph/graph.h"

#include "graph/program/check.h"
#include "graph/report/listing.h"

namespace oneflow::graph {

Graph::Graph(Program program) : program_(std::move(program)), description_(program_) {}

Graph::~Graph() { delete listing_.load(); }

const Listing& Graph::listing() const {
  if (const Listing* const known = listing_.load()) return *known;
  auto made = std::make_unique<const Listing>(program_);
  const Listing* first = nullptr;  // that of another thread
  return listing_.compare_exchange_strong(first, made.get()) ? *made.release() : *first;
}

Ref<Graph> Graph::create(Program program) {
  check_program(program);
  return of_checked(std::move(program));
}

}  // namespace oneflow::graph
