#include "graph.h"

#include <oneflow/front_end.h>
#include <oneflow/onnx.h>

#include "classes.h"
#include "convert.h"
#include "errors.h"
#include "memory.h"
#include "nodes.h"
#include "tensor.h"

namespace oneflow::ruby {
namespace {

VALUE graph_class;

// ---------------------------------------------------------------- capture

void free_capture(void* memory) { of_capture_release(static_cast<of_capture>(memory)); }

const rb_data_type_t capture_type = {
    "OneFlow::Capture",          {nullptr, free_capture, nullptr, nullptr, {nullptr}}, nullptr, nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY,
};

// Returns the handle, borrowed from the object. It is never NULL: Ruby code cannot allocate an object without a handle.
of_capture handle_of_capture(VALUE self) { return static_cast<of_capture>(rb_check_typeddata(self, &capture_type)); }

// Returns sizes of these names and ranges [minimum, maximum, step]. The caller must keep `owners` alive.
const of_named_size* sizes_of(VALUE name_list, VALUE range_list, VALUE owners[2]) {
  const char** names = copies_of(name_list, &owners[0]);
  auto* sizes = allocate<of_named_size>(RARRAY_LEN(range_list), &owners[1]);
  for (long i = 0; i < RARRAY_LEN(range_list); ++i) {
    const VALUE range = rb_ary_entry(range_list, i);
    sizes[i] = {names[i], NUM2LL(rb_ary_entry(range, 0)), NUM2LL(rb_ary_entry(range, 1)),
                NUM2LL(rb_ary_entry(range, 2))};
  }
  return sizes;
}

// Capture.start(nodes, names, ranges, dimensions): names and ranges are those of the sizes; a dimension has the numbers
// of an input, of its dimension and of its size.
VALUE start(VALUE capture_class, VALUE node_list, VALUE name_list, VALUE range_list, VALUE dimension_list) {
  const VALUE object = rb_data_typed_object_wrap(capture_class, nullptr, &capture_type);
  VALUE node_owners[2], size_owners[2], dimension_owner;
  const of_file_node* nodes = nodes_of("capture", "example_inputs", node_list, node_owners);
  const of_named_size* sizes = sizes_of(name_list, range_list, size_owners);
  auto* dimensions = allocate<of_named_dimension>(RARRAY_LEN(dimension_list), &dimension_owner);
  for (long i = 0; i < RARRAY_LEN(dimension_list); ++i) {
    const VALUE dimension = rb_ary_entry(dimension_list, i);
    dimensions[i] = {NUM2ULL(rb_ary_entry(dimension, 0)), NUM2INT(rb_ary_entry(dimension, 1)),
                     NUM2INT(rb_ary_entry(dimension, 2))};
  }
  of_capture_options options = {};
  options.struct_size = sizeof(options);
  options.sizes = sizes;
  options.size_count = static_cast<uint64_t>(RARRAY_LEN(range_list));
  options.dimensions = dimensions;
  options.dimension_count = static_cast<uint64_t>(RARRAY_LEN(dimension_list));
  of_capture capture = nullptr;
  check(of_capture_create(nodes, static_cast<uint64_t>(RARRAY_LEN(node_list)), &options, &capture));
  RTYPEDDATA_DATA(object) = capture;
  RB_GC_GUARD(node_list);
  RB_GC_GUARD(node_owners[0]);
  RB_GC_GUARD(node_owners[1]);
  RB_GC_GUARD(size_owners[0]);
  RB_GC_GUARD(size_owners[1]);
  RB_GC_GUARD(dimension_owner);
  return object;
}

// Capture#name_constant(tensor, name)
VALUE name_constant(VALUE self, VALUE tensor, VALUE name) {
  const of_tensor handle = handle_of_argument("capture", "an item of weights", tensor);
  check(of_capture_name(handle_of_capture(self), handle, StringValueCStr(name)));
  RB_GC_GUARD(tensor);
  RB_GC_GUARD(name);
  return Qnil;
}

// Capture#begin_run(count): returns the `count` inputs of the next run; nil if no further run is needed.
VALUE begin_run(VALUE self, VALUE input_count) {
  const long count = NUM2LONG(input_count);
  const VALUE tensors = rb_ary_new_capa(count);
  for (long i = 0; i < count; ++i) rb_ary_push(tensors, new_tensor());
  VALUE owner;
  auto* handles = allocate<of_tensor>(count, &owner);
  bool has_begun = false;
  check(of_capture_begin(handle_of_capture(self), handles, &has_begun));
  for (long i = 0; has_begun && i < count; ++i) fill_tensor(rb_ary_entry(tensors, i), handles[i]);
  RB_GC_GUARD(owner);
  return has_begun ? tensors : Qnil;
}

// Capture#end_run(nodes)
VALUE end_run(VALUE self, VALUE node_list) {
  VALUE owners[2];
  const of_file_node* nodes = nodes_of("capture", "the result", node_list, owners);
  check(of_capture_end(handle_of_capture(self), nodes, static_cast<uint64_t>(RARRAY_LEN(node_list))));
  RB_GC_GUARD(node_list);
  RB_GC_GUARD(owners[0]);
  RB_GC_GUARD(owners[1]);
  return Qnil;
}

// Capture#cancel: ends a run that was not ended. Otherwise it does nothing.
VALUE cancel(VALUE self) {
  check(of_capture_cancel(handle_of_capture(self)));
  return Qnil;
}

// ---------------------------------------------------------------- the graph

void free_graph(void* memory) { of_session_release(static_cast<of_session>(memory)); }

// A graph, and the session that runs it. It is immutable, so that Ractors may share it.
const rb_data_type_t graph_type = {
    "OneFlow::Graph",
    {nullptr, free_graph, nullptr, nullptr, {nullptr}},
    nullptr,
    nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

// Returns an object without a handle.
VALUE new_graph() { return rb_data_typed_object_wrap(graph_class, nullptr, &graph_type); }

// Gives an object its handle. Takes ownership of the caller's reference.
void fill_graph(VALUE object, of_graph graph) {
  of_session session = nullptr;
  const of_status status = of_session_create(graph, nullptr, &session);
  of_graph_release(graph);
  check(status);
  RTYPEDDATA_DATA(object) = session;
}

// Returns the session, borrowed from the object. It is never NULL: Ruby code cannot allocate an object without one.
of_session session_of(VALUE self) { return static_cast<of_session>(rb_check_typeddata(self, &graph_type)); }

of_graph graph_of(VALUE self) { return of_session_graph(session_of(self)); }

of_graph_info info_of_graph(VALUE self) {
  of_graph_info info = {};
  info.struct_size = sizeof(info);
  check(of_graph_get_info(graph_of(self), &info));
  return info;
}

of_graph_part part_of(VALUE part) { return static_cast<of_graph_part>(NUM2INT(part)); }

// Capture#finish: returns the Graph.
VALUE finish(VALUE self) {
  const VALUE object = new_graph();
  of_graph graph = nullptr;
  check(of_capture_finish(handle_of_capture(self), &graph));
  fill_graph(object, graph);
  return object;
}

// Graph.read(path, verify, share)
VALUE read(VALUE, VALUE path, VALUE verify, VALUE share) {
  const VALUE object = new_graph();
  const char* source = StringValueCStr(path);
  of_graph graph = nullptr;
  of_graph_load_options options = {};
  options.struct_size = sizeof(options);
  options.verify = RTEST(verify);
  options.share = RTEST(share);
  check(run_native(true, [&] { return of_graph_load(source, &options, &graph); }));
  fill_graph(object, graph);
  RB_GC_GUARD(path);
  return object;
}

// Graph.read_onnx(path, names of sizes, their ranges, names of sizes that are equal to others, those others, names of
// inputs, their values)
VALUE read_onnx(VALUE, VALUE path, VALUE size_names, VALUE ranges, VALUE equal_names, VALUE other_names,
                VALUE value_names, VALUE values) {
  const VALUE object = new_graph();
  const char* source = StringValueCStr(path);
  const long count = RARRAY_LEN(values);
  VALUE size_owners[2], equal_owners[3], name_owner, value_owner;
  auto* tensors = allocate<of_tensor>(count, &value_owner);
  for (long i = 0; i < count; ++i)
    tensors[i] = handle_of_argument("load", "an item of values", rb_ary_entry(values, i));
  of_onnx_load_options options = {};
  options.struct_size = sizeof(options);
  options.sizes = sizes_of(size_names, ranges, size_owners);
  options.size_count = static_cast<uint64_t>(RARRAY_LEN(ranges));
  options.value_names = copies_of(value_names, &name_owner);
  options.values = tensors;
  options.value_count = static_cast<uint64_t>(count);
  const long equal_count = RARRAY_LEN(equal_names);
  const char **names = copies_of(equal_names, &equal_owners[0]), **others = copies_of(other_names, &equal_owners[1]);
  auto* equal = allocate<of_equal_sizes>(equal_count, &equal_owners[2]);
  for (long i = 0; i < equal_count; ++i) equal[i] = {names[i], others[i]};
  options.equal_sizes = equal;
  options.equal_size_count = static_cast<uint64_t>(equal_count);
  of_graph graph = nullptr;
  check(run_native(true, [&] { return of_onnx_load(source, &options, &graph); }));
  fill_graph(object, graph);
  RB_GC_GUARD(path);
  RB_GC_GUARD(values);
  for (VALUE& owner : equal_owners) RB_GC_GUARD(owner);
  RB_GC_GUARD(size_owners[0]);
  RB_GC_GUARD(size_owners[1]);
  RB_GC_GUARD(name_owner);
  RB_GC_GUARD(value_owner);
  return object;
}

// Graph#write(path)
VALUE write(VALUE self, VALUE path) {
  const of_graph graph = graph_of(self);
  const char* target = StringValueCStr(path);
  check(run_native(true, [&] { return of_graph_save(graph, target); }));
  RB_GC_GUARD(self);
  RB_GC_GUARD(path);
  return Qnil;
}

// Graph#write_onnx(path, opset, external bytes)
VALUE write_onnx(VALUE self, VALUE path, VALUE opset, VALUE external_bytes) {
  const of_graph graph = graph_of(self);
  const char* target = StringValueCStr(path);
  of_onnx_save_options options = {};
  options.struct_size = sizeof(options);
  options.opset = NUM2LL(opset);
  options.external_bytes = static_cast<uint64_t>(NUM2LL(external_bytes));
  check(run_native(true, [&] { return of_onnx_save(graph, target, &options); }));
  RB_GC_GUARD(self);
  RB_GC_GUARD(path);
  return Qnil;
}

// ---------------------------------------------------------------- sessions

// Graph#warm(sizes): sizes is an Array of Integers.
VALUE warm(VALUE self, VALUE list) {
  VALUE owner;
  const long count = RARRAY_LEN(list);
  auto* sizes = allocate<int64_t>(count, &owner);
  for (long i = 0; i < count; ++i) sizes[i] = NUM2LL(rb_ary_entry(list, i));
  const of_session session = session_of(self);
  check(run_native(true, [&] { return of_session_warm_up(session, sizes, static_cast<uint64_t>(count)); }));
  RB_GC_GUARD(owner);
  RB_GC_GUARD(self);
  return Qnil;
}

of_session_info session_info(VALUE self) {
  of_session_info info = {};
  info.struct_size = sizeof(info);
  check(of_session_get_info(session_of(self), &info));
  RB_GC_GUARD(self);
  return info;
}

// Graph#memory
VALUE session_memory(VALUE self) { return ULL2NUM(session_info(self).memory); }

// Graph#limit: returns 0 for none.
VALUE limit(VALUE self) { return ULL2NUM(session_info(self).memory_limit); }

// Graph#limit_memory(bytes)
VALUE limit_memory(VALUE self, VALUE bytes) {
  check(of_session_set_memory_limit(session_of(self), NUM2ULL(bytes)));
  RB_GC_GUARD(self);
  return Qnil;
}

// ---------------------------------------------------------------- properties

// Graph#to_s
VALUE text(VALUE self) {
  const VALUE string = rb_utf8_str_new_cstr(info_of_graph(self).text);
  RB_GC_GUARD(self);
  return string;
}

// Graph#note
VALUE note(VALUE self) {
  const VALUE string = rb_utf8_str_new_cstr(info_of_graph(self).note);
  RB_GC_GUARD(self);
  return string;
}

// Graph#call_count
VALUE call_count(VALUE self) { return ULL2NUM(info_of_graph(self).call_count); }

// Graph#named_sizes: returns Arrays [name, minimum, maximum, step].
VALUE named_sizes(VALUE self) {
  const of_graph_info info = info_of_graph(self);
  const VALUE list = rb_ary_new_capa(static_cast<long>(info.size_count));
  for (uint64_t i = 0; i < info.size_count; ++i) {
    const of_named_size& size = info.sizes[i];
    rb_ary_push(list, rb_ary_new_from_args(4, rb_utf8_str_new_cstr(size.name), LL2NUM(size.minimum),
                                           LL2NUM(size.maximum), LL2NUM(size.step)));
  }
  RB_GC_GUARD(self);
  return list;
}

// Graph#values(part): returns Arrays [name, dtype, device, sizes as Strings].
VALUE values(VALUE self, VALUE part) {
  const of_graph_info info = info_of_graph(self);
  const uint64_t counts[] = {info.input_count, info.output_count, info.constant_count};
  const uint64_t count = counts[part_of(part)];
  const VALUE list = rb_ary_new_capa(static_cast<long>(count));
  for (uint64_t i = 0; i < count; ++i) {
    of_graph_value value = {};
    value.struct_size = sizeof(value);
    check(of_graph_value_at(graph_of(self), part_of(part), i, &value));
    const VALUE shape = rb_ary_new_capa(value.rank);
    for (int dim = 0; dim < value.rank; ++dim) rb_ary_push(shape, rb_utf8_str_new_cstr(value.size_texts[dim]));
    rb_ary_push(list, rb_ary_new_from_args(4, rb_utf8_str_new_cstr(value.name), dtype_symbol(value.dtype),
                                           device_string(value.device), shape));
  }
  RB_GC_GUARD(self);
  return list;
}

// Graph#nodes(part)
VALUE nodes(VALUE self, VALUE part) {
  const of_file_node* found = nullptr;
  uint64_t count = 0;
  check(of_graph_get_nodes(graph_of(self), part_of(part), &found, &count));
  const VALUE list = nodes_to_ruby(found, count);
  RB_GC_GUARD(self);
  return list;
}

// Graph#constant(position)
VALUE constant(VALUE self, VALUE position) {
  const VALUE object = new_tensor();
  of_tensor tensor = nullptr;
  check(of_graph_constant(graph_of(self), NUM2ULL(position), &tensor));
  fill_tensor(object, tensor);
  RB_GC_GUARD(self);
  return object;
}

// ---------------------------------------------------------------- passes

void free_report(void* memory) { of_report_release(static_cast<of_report>(memory)); }

const rb_data_type_t report_type = {
    "OneFlow::Graph::Report",    {nullptr, free_report, nullptr, nullptr, {nullptr}}, nullptr, nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY,
};

// A rule of the program in native code. Its Ruby objects are on the stack of `optimized`.
struct Rule {
  VALUE right;
  VALUE raised;  // the exception of the right side
};

struct RuleCall {
  Rule* rule;
  const of_tensor* inputs;
  uint64_t count;
  of_tensor* output;
};

VALUE run_rule(VALUE argument) {
  const auto& call = *reinterpret_cast<RuleCall*>(argument);
  const VALUE tensors = rb_ary_new_capa(static_cast<long>(call.count));
  for (uint64_t i = 0; i < call.count; ++i) {
    const VALUE tensor = new_tensor();
    fill_tensor(tensor, of_tensor_retain(call.inputs[i]));
    rb_ary_push(tensors, tensor);
  }
  const VALUE result = rb_funcall(call.rule->right, rb_intern("call"), 1, tensors);
  if (NIL_P(result)) return Qnil;
  *call.output = of_tensor_retain(handle_of_argument("rule", "the result", result));
  return Qnil;
}

// Runs the right side of a rule, with Ruby's lock.
of_status call_rule(void* user, const of_tensor* inputs, uint64_t count, of_tensor* output) {
  RuleCall call = {static_cast<Rule*>(user), inputs, count, output};
  int state = 0;
  rb_protect(run_rule, reinterpret_cast<VALUE>(&call), &state);
  if (!state) return OF_OK;
  call.rule->raised = rb_errinfo();
  rb_set_errinfo(Qnil);
  return of_fail(OF_INTERNAL_ERROR, "the right side of a rule has raised an exception");
}

// Graph#optimized(level, names, measure, tensors, rules, only_rules, weights or nil), where a rule is [name, graph,
// names of constants, right side that takes an Array, error], returns [graph, passes, error, table], where a pass is
// [name, changes, calls before, calls after, error].
VALUE optimized(VALUE self, VALUE level, VALUE name_list, VALUE measure, VALUE inputs, VALUE rule_list,
                VALUE only_rules, VALUE weights) {
  const VALUE object = new_graph();
  VALUE owner = rb_data_typed_object_wrap(0, nullptr, &report_type);
  VALUE name_owner, input_owner;
  const char** names = copies_of(name_list, &name_owner);
  const long count = RARRAY_LEN(inputs);
  auto* tensors = allocate<of_tensor>(count, &input_owner);
  for (long i = 0; i < count; ++i) tensors[i] = handle_of_argument("optimize", "an input", rb_ary_entry(inputs, i));
  of_optimize_options options = {};
  options.struct_size = sizeof(options);
  options.level = NUM2INT(level);
  options.without = names;
  options.without_count = static_cast<uint64_t>(RARRAY_LEN(name_list));
  options.measure = RTEST(measure);
  options.inputs = tensors;
  options.input_count = static_cast<uint64_t>(count);
  const long rule_count = RARRAY_LEN(rule_list);
  VALUE rule_owner, described_owner, constant_owners = rb_ary_new();
  auto* rules = allocate<Rule>(rule_count, &rule_owner);
  auto* described = allocate<of_rule>(rule_count, &described_owner);
  for (long i = 0; i < rule_count; ++i) {
    const VALUE rule = rb_ary_entry(rule_list, i);
    VALUE name = rb_ary_entry(rule, 0), constant_owner;
    const VALUE constants = rb_ary_entry(rule, 2);
    rules[i] = {rb_ary_entry(rule, 3), Qnil};
    described[i] = {StringValueCStr(name),
                    graph_of(rb_ary_entry(rule, 1)),
                    copies_of(constants, &constant_owner),
                    static_cast<uint64_t>(RARRAY_LEN(constants)),
                    call_rule,
                    &rules[i],
                    NUM2DBL(rb_ary_entry(rule, 4))};
    rb_ary_push(constant_owners, constant_owner);
  }
  options.rules = described;
  options.rule_count = static_cast<uint64_t>(rule_count);
  options.only_rules = RTEST(only_rules);
  options.weights = NIL_P(weights) ? nullptr : StringValueCStr(weights);
  const of_graph graph = graph_of(self);
  of_graph found = nullptr;
  of_report report = nullptr;
  const auto work = [&] { return of_graph_optimize(graph, &options, &found, &report); };
  const of_status status = run_native(rule_count == 0, work);  // the right sides of rules need the lock
  for (long i = 0; i < rule_count; ++i)
    if (!NIL_P(rules[i].raised)) rb_exc_raise(rules[i].raised);
  check(status);
  RTYPEDDATA_DATA(owner) = report;
  fill_graph(object, found);
  of_report_info info = {};
  info.struct_size = sizeof(info);
  check(of_report_get_info(report, &info));
  const VALUE passes = rb_ary_new();
  for (uint64_t i = 0; i < info.pass_count; ++i) {
    const of_pass_report& pass = info.passes[i];
    rb_ary_push(passes, rb_ary_new_from_args(5, rb_utf8_str_new_cstr(pass.name), LL2NUM(pass.changes),
                                             LL2NUM(pass.calls_before), LL2NUM(pass.calls_after), DBL2NUM(pass.error)));
  }
  const VALUE result = rb_ary_new_from_args(4, object, passes, DBL2NUM(info.error), rb_utf8_str_new_cstr(info.text));
  RB_GC_GUARD(self);
  RB_GC_GUARD(owner);
  RB_GC_GUARD(inputs);
  RB_GC_GUARD(name_owner);
  RB_GC_GUARD(input_owner);
  RB_GC_GUARD(rule_list);
  RB_GC_GUARD(weights);
  RB_GC_GUARD(rule_owner);
  RB_GC_GUARD(described_owner);
  RB_GC_GUARD(constant_owners);
  return result;
}

// Graph.pass_list: returns Arrays [name, summary, level, error].
VALUE pass_list(VALUE) {
  const of_pass* passes = nullptr;
  uint64_t count = 0;
  check(of_graph_passes(&passes, &count));
  const VALUE list = rb_ary_new();
  for (uint64_t i = 0; i < count; ++i)
    rb_ary_push(list,
                rb_ary_new_from_args(4, rb_utf8_str_new_cstr(passes[i].name), rb_utf8_str_new_cstr(passes[i].summary),
                                     INT2NUM(passes[i].level), DBL2NUM(passes[i].error)));
  return list;
}

// ---------------------------------------------------------------- cost and picture

void free_cost(void* memory) { of_cost_release(static_cast<of_cost>(memory)); }

const rb_data_type_t cost_type = {
    "of_cost", {nullptr, free_cost, nullptr, nullptr, {nullptr}}, nullptr, nullptr, RUBY_TYPED_FREE_IMMEDIATELY,
};

// Graph#measure(names, values of sizes): returns the totals, Arrays of those of each operator, and the table.
VALUE measure(VALUE self, VALUE name_list, VALUE value_list) {
  VALUE owner = rb_data_typed_object_wrap(rb_cObject, nullptr, &cost_type);
  const long count = RARRAY_LEN(value_list);
  VALUE name_owner, value_owner;
  const char** names = copies_of(name_list, &name_owner);
  auto* sizes = allocate<of_size_value>(count, &value_owner);
  for (long i = 0; i < count; ++i) sizes[i] = {names[i], NUM2LL(rb_ary_entry(value_list, i))};
  of_cost cost = nullptr;
  check(of_graph_get_cost(graph_of(self), sizes, static_cast<uint64_t>(count), &cost));
  RTYPEDDATA_DATA(owner) = cost;
  of_cost_info info = {};
  info.struct_size = sizeof(info);
  check(of_cost_get_info(cost, &info));
  const VALUE operators = rb_ary_new_capa(static_cast<long>(info.operator_count));
  for (uint64_t i = 0; i < info.operator_count; ++i) {
    of_operator_cost each = {};
    each.struct_size = sizeof(each);
    check(of_cost_at(cost, i, &each));
    rb_ary_push(operators, rb_ary_new_from_args(5, rb_utf8_str_new_cstr(each.name), ULL2NUM(each.calls),
                                                rb_dbl2big(each.operations), ULL2NUM(each.bytes_read),
                                                ULL2NUM(each.bytes_written)));
  }
  const VALUE result = rb_ary_new_from_args(7, rb_dbl2big(info.operations), ULL2NUM(info.bytes_read),
                                            ULL2NUM(info.bytes_written), ULL2NUM(info.constant_bytes),
                                            ULL2NUM(info.peak_bytes), operators, rb_utf8_str_new_cstr(info.table));
  RB_GC_GUARD(self);
  RB_GC_GUARD(owner);
  RB_GC_GUARD(name_owner);
  RB_GC_GUARD(value_owner);
  return result;
}

// Graph#picture
VALUE picture(VALUE self) {
  char* text = nullptr;
  check(of_graph_picture(graph_of(self), &text));
  const VALUE string = rb_utf8_str_new_cstr(text);
  of_free(text);
  RB_GC_GUARD(self);
  return string;
}

// ---------------------------------------------------------------- run

// Graph#run(tensors, generator or nil): returns the outputs.
VALUE run(VALUE self, VALUE inputs, VALUE generator) {
  const long input_count = RARRAY_LEN(inputs);
  const of_graph_info info = info_of_graph(self);
  const long output_count = static_cast<long>(info.output_count);
  VALUE input_owner, output_owner;
  auto* tensors = allocate<of_tensor>(input_count, &input_owner);
  for (long i = 0; i < input_count; ++i) tensors[i] = handle_of_argument("run", "an input", rb_ary_entry(inputs, i));
  auto* outputs = allocate<of_value>(output_count, &output_owner);
  const VALUE results = rb_ary_new_capa(output_count);
  for (long i = 0; i < output_count; ++i) rb_ary_push(results, new_tensor());
  of_run_options options = {};
  options.struct_size = sizeof(options);
  options.generator = static_cast<of_generator>(handle_of_class(generator, "Generator"));
  const of_session session = session_of(self);
  const bool is_long = of_run_is_long(session, tensors, static_cast<size_t>(input_count));
  const auto work = [&] {
    return of_session_run(session, tensors, static_cast<size_t>(input_count), outputs,
                          static_cast<size_t>(output_count), &options);
  };
  check(run_native(is_long, work, info.draws_numbers ? Interrupted::kWaits : Interrupted::kRepeats));
  for (long i = 0; i < output_count; ++i) fill_tensor(rb_ary_entry(results, i), outputs[i].as.tensor);
  RB_GC_GUARD(self);
  RB_GC_GUARD(inputs);
  RB_GC_GUARD(generator);
  RB_GC_GUARD(input_owner);
  RB_GC_GUARD(output_owner);
  return results;
}

}  // namespace

void define_graphs(VALUE module) {
  const VALUE capture_class = rb_define_class_under(module, "Capture", rb_cObject);
  rb_undef_alloc_func(capture_class);
  rb_undef_method(rb_singleton_class(capture_class), "new");
  rb_define_private_method(rb_singleton_class(capture_class), "start", RUBY_METHOD_FUNC(start), 4);
  rb_define_private_method(capture_class, "name_constant", RUBY_METHOD_FUNC(name_constant), 2);
  rb_define_private_method(capture_class, "begin_run", RUBY_METHOD_FUNC(begin_run), 1);
  rb_define_private_method(capture_class, "end_run", RUBY_METHOD_FUNC(end_run), 1);
  rb_define_private_method(capture_class, "cancel", RUBY_METHOD_FUNC(cancel), 0);
  rb_define_private_method(capture_class, "finish", RUBY_METHOD_FUNC(finish), 0);

  graph_class = rb_define_class_under(module, "Graph", rb_cObject);
  rb_undef_alloc_func(graph_class);
  rb_undef_method(rb_singleton_class(graph_class), "new");
  rb_define_private_method(rb_singleton_class(graph_class), "read", RUBY_METHOD_FUNC(read), 3);
  rb_define_private_method(rb_singleton_class(graph_class), "read_onnx", RUBY_METHOD_FUNC(read_onnx), 7);
  rb_define_private_method(rb_singleton_class(graph_class), "pass_list", RUBY_METHOD_FUNC(pass_list), 0);
  rb_define_private_method(graph_class, "optimized", RUBY_METHOD_FUNC(optimized), 7);
  rb_define_private_method(graph_class, "warm", RUBY_METHOD_FUNC(warm), 1);
  rb_define_private_method(graph_class, "limit", RUBY_METHOD_FUNC(limit), 0);
  rb_define_private_method(graph_class, "limit_memory", RUBY_METHOD_FUNC(limit_memory), 1);
  rb_define_method(graph_class, "memory", RUBY_METHOD_FUNC(session_memory), 0);
  rb_define_method(graph_class, "to_s", RUBY_METHOD_FUNC(text), 0);
  rb_define_method(graph_class, "note", RUBY_METHOD_FUNC(note), 0);
  rb_define_private_method(graph_class, "call_count", RUBY_METHOD_FUNC(call_count), 0);
  rb_define_private_method(graph_class, "named_sizes", RUBY_METHOD_FUNC(named_sizes), 0);
  rb_define_private_method(graph_class, "values", RUBY_METHOD_FUNC(values), 1);
  rb_define_private_method(graph_class, "nodes", RUBY_METHOD_FUNC(nodes), 1);
  rb_define_private_method(graph_class, "constant", RUBY_METHOD_FUNC(constant), 1);
  rb_define_private_method(graph_class, "run", RUBY_METHOD_FUNC(run), 2);
  rb_define_private_method(graph_class, "write", RUBY_METHOD_FUNC(write), 1);
  rb_define_private_method(graph_class, "write_onnx", RUBY_METHOD_FUNC(write_onnx), 3);
  rb_define_private_method(graph_class, "measure", RUBY_METHOD_FUNC(measure), 2);
  rb_define_method(graph_class, "picture", RUBY_METHOD_FUNC(picture), 0);
}

}  // namespace oneflow::ruby
