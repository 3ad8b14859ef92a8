// generated from opdefs by codegen, do not edit
//
// OF_EMITTED(X): X(name) for each generated table of kernels. OF_NATIVE(X): X(name, hash) for each record whose kernel,
// where it needs one, is written by hand.
#define OF_EMITTED(X) \
  X(add) \
  X(gelu) \
  X(max_dim) \
  X(zeros)

#define OF_NATIVE(X) 
