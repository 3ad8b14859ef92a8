// A call of cn_join(), which waits, on a thread of its own, so that signals and Thread#kill interrupt who waits for it.
#pragma once

#include <commnet/commnet.h>
#include <ruby.h>

namespace commnet::ruby {

// Creates an object for a call, which does not begin yet.
VALUE new_joining(cn_endpoint* endpoint, const cn_job_options& options, const char* meeting);
// Begins the call. The object must live until its end.
void begin(VALUE joining);
// Waits until the endpoint may be closed, which ends the call, and for that end. Keep Ruby's lock.
void await_begin(VALUE joining);
void await_end(VALUE joining);
// Waits for the end, while other threads of Ruby run.
void wait(VALUE joining);
// Raises what the call has failed with.
void check_end(VALUE joining);
// Returns an Array of the Peers by rank; nil for the own rank.
VALUE peers_of(VALUE joining, VALUE endpoint);

// Defines the class.
void define_joining(VALUE module);

}  // namespace commnet::ruby
