// Sessions: graphs that are prepared for many runs.
#ifndef ONEFLOW_GRAPH_SESSION_SESSION_H_
#define ONEFLOW_GRAPH_SESSION_SESSION_H_

#include <oneflow/session.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/program/bound_call.h"
#include "graph/program/lifetimes.h"
#include "graph/session/plan.h"

// The type that an of_session points to.
struct of_session_object {};

namespace oneflow::graph {

// A graph with plans of its runs, and with memory for them. Thread-safe: runs on several threads have memory each.
//
// The first run with inputs of some layouts makes the calls of the graph one by one, and is traced. Later ones repeat
// the work that it has submitted. Runs that a layer wants to see, and those whose work depends on more than sizes, are
// made of calls.
class Session final : public of_session_object, public RefCounted<Session> {
 public:
  static Ref<Session> create(Ref<Graph> graph) { return Ref<Session>::adopt(new Session(std::move(graph))); }

  const Graph& graph() const { return *graph_; }
  // Runs the graph. An output that is given is written to; others are new tensors. Random operators draw from
  // `generator` or, if that is null, from the default generator of the thread. Throws the errors of the inputs, which
  // name them, and those of calls.
  void run(std::span<const of_tensor> inputs, std::span<of_value> outputs, of_generator generator) const;

  // Limits the memory of a run; 0: no limit.
  void set_memory_limit(uint64_t bytes) { memory_limit_.store(bytes, std::memory_order_relaxed); }
  // Runs the graph with inputs of zeros. `sizes` are the named sizes, or empty: those of the examples.
  void warm_up(std::span<const int64_t> sizes) const;
  of_session_info info() const;

  void destroy() noexcept { delete this; }

 private:
  // The registers hold the constants between runs, and nothing else.
  struct Workspace {
    Registers registers;
    BoundCall bound;
  };
  // A plan, with memory that no run uses.
  struct Planned final : RefCounted<Planned> {
    explicit Planned(Ref<Plan> of) : plan(std::move(of)) {}
    void destroy() noexcept { delete this; }

    const Ref<Plan> plan;
    std::vector<std::unique_ptr<PlanMemory>> memories;
  };
  // The most plans that a session keeps. A graph whose inputs vary in size has one for each of the last sizes.
  static constexpr size_t kMaxPlans = 8;
  using Plans = std::array<Ref<Planned>, kMaxPlans>;

  explicit Session(Ref<Graph> graph);
  ~Session() = default;
  // Finds the plan for inputs; null if there is none.
  Ref<Planned> find_plan(std::span<const of_tensor> inputs) const;
  // Returns memory of a plan, which becomes the one that was used last.
  std::unique_ptr<PlanMemory> take_memory(Planned& planned) const;
  bool is_within_limit(const Plan& plan) const;
  void return_memory(Planned& planned, std::unique_ptr<PlanMemory> memory) const noexcept;
  void add_plan(Ref<Plan> plan) const;
  void run_calls(std::span<const of_tensor> inputs, std::span<of_value> outputs, of_generator generator,
                 bool is_traced) const;
  void bind_inputs(std::span<const of_tensor> inputs, Registers& registers) const;
  void run_step(size_t number, Workspace& workspace, of_generator generator) const;
  void store_outputs(std::span<of_value> outputs, const Registers& registers) const;
  std::unique_ptr<Workspace> take_workspace() const;
  void return_workspace(std::unique_ptr<Workspace> workspace) const noexcept;

  const Ref<Graph> graph_;
  const Lifetimes lifetimes_;
  // Guarded by a mutex, which a thread holds for moments: it compares and runs plans without it.
  mutable std::vector<std::unique_ptr<Workspace>> workspaces_;  // unused ones
  mutable Plans plans_;                                         // the first one was used last; the rest may be null
  std::atomic<uint64_t> memory_limit_ = 0;
  mutable std::atomic<bool> is_repeatable_ = true;  // whether runs are traced
};

inline Session* to_session(of_session handle) { return static_cast<Session*>(handle); }

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_SESSION_SESSION_H_
