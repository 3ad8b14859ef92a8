/* Gradients: which tensors require one, backward passes, and functions of users with gradients of their own.
 *
 * A call with a tensor that requires a gradient is recorded, and its floating-point results require one, too. A
 * backward pass follows the recorded calls from a result to the leaves: tensors that require a gradient and are not
 * results of recorded calls. A gradient has the shape, the dtype and the device of its tensor.
 *
 * Recording belongs to a thread: see of_grad_enabled(). All functions may be called from any thread. */
#ifndef ONEFLOW_AUTOGRAD_H_
#define ONEFLOW_AUTOGRAD_H_

#include <oneflow/oneflow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether a gradient of the tensor is wanted. */
OF_API bool of_tensor_requires_grad(of_tensor tensor);
/* Makes a leaf require a gradient, or not. Fails for the result of a recorded call, and for dtypes that are neither
 * floating-point nor complex. */
OF_API of_status of_tensor_set_requires_grad(of_tensor tensor, bool requires_grad);
/* Returns whether the tensor is not the result of a recorded call. */
OF_API bool of_tensor_is_leaf(of_tensor tensor);
/* Returns the name of the recorded call that the tensor is a result of, such as "mul"; NULL for a leaf. It is valid as
 * long as the tensor. */
OF_API const char* of_tensor_grad_fn(of_tensor tensor);
/* Makes backward passes collect the gradient of a tensor that is not a leaf. */
OF_API of_status of_tensor_retain_grad(of_tensor tensor);
/* Returns whether they do. */
OF_API bool of_tensor_retains_grad(of_tensor tensor);
/* Gets the gradient that backward passes have collected: a new reference; NULL if there is none. */
OF_API of_status of_tensor_get_grad(of_tensor tensor, of_tensor* grad);
/* Replaces the collected gradient; NULL removes it. Fails for another shape, dtype or device than the tensor's. */
OF_API of_status of_tensor_set_grad(of_tensor tensor, of_tensor grad);
/* Creates a tensor over the same memory that has no history and requires no gradient. */
OF_API of_status of_tensor_detach(of_tensor tensor, of_tensor* result);

/* Creates a copy of a leaf that is a leaf itself: it requires a gradient if the leaf does, and has a copy of the
 * collected gradient. Fails for the result of a recorded call. */
OF_API of_status of_tensor_copy_leaf(of_tensor tensor, of_tensor* result);
/* Creates a tensor over the same memory, for which a function of it can be differentiated, whatever else the function
 * computes from the tensor itself. If `keeps_history` and the tensor requires a gradient, it is the result of a
 * recorded call, so that what is computed from it depends on the tensor; otherwise it is a leaf that requires a
 * gradient. */
OF_API of_status of_independent_variable(of_tensor tensor, bool keeps_history, of_tensor* result);

/* Returns whether the calls of the thread are recorded. They are at first. */
OF_API bool of_grad_enabled(void);
/* Switches recording on or off for the calling thread. */
OF_API void of_set_grad_enabled(bool enabled);

/* How a backward pass runs. */
typedef struct of_backward_options {
  uint32_t struct_size;
  bool retain_graph; /* keeps what the gradients need, so that another pass can follow the same calls */
  bool create_graph; /* records the pass, so that its gradients have gradients; implies retain_graph */
  /* Whether tensors that do not require a gradient are constants. Without this, they are an error. */
  bool allow_constants;
  const char* caller; /* the name that errors begin with; NULL for backward or grad */
} of_backward_options;

/* Adds the gradients of the sum of `tensors` to all leaves that these depend on. `grads` are the gradients of the
 * tensors; NULL, or a NULL item, stands for 1, and needs a tensor with one element. `options` may be NULL.
 *
 * Passes of several threads may add to the same leaf, one at a time. A pass waits for its turn, so that a caller must
 * hold no lock that hooks or the memory-pressure callback take. Only a pass within an addition of the same thread,
 * which such a callback starts, does not wait: if it is not its turn, what it adds is there when that of the others is.
 */
OF_API of_status of_backward(const of_tensor* tensors, const of_tensor* grads, size_t count,
                             const of_backward_options* options);
/* Gets the gradients of `inputs` instead, and adds none to leaves. `results` receives `input_count` new references;
 * NULL for an input that the tensors do not depend on. */
OF_API of_status of_grad(const of_tensor* tensors, const of_tensor* grads, size_t count, const of_tensor* inputs,
                         size_t input_count, const of_backward_options* options, of_tensor* results);

/* Gets whether the tensors depend on leaves that are not among `inputs`. If they do, so may the gradients of the
 * inputs. */
OF_API of_status of_depends_on_others(const of_tensor* tensors, size_t count, const of_tensor* inputs,
                                      size_t input_count, bool* result);

/* A function that sees a gradient during a backward pass. It may set *replaced to a new reference, which then takes the
 * place of the gradient. */
typedef of_status (*of_gradient_hook)(void* context, of_tensor grad, of_tensor* replaced);
/* A hook of a tensor. */
typedef struct of_hook_object* of_hook;
/* Makes backward passes call a hook with the gradient of a tensor that requires one, before it is collected or passed
 * on. destroy(context) is called once, when no pass can call the hook any more. `hook` receives a reference to be
 * released by of_hook_release(); NULL: none. */
OF_API of_status of_tensor_add_hook(of_tensor tensor, of_gradient_hook function, void* context, of_deleter destroy,
                                    of_hook* hook);
/* Removes a hook from its tensor. */
OF_API void of_hook_remove(of_hook hook);
/* Releases a reference; the hook stays. NULL is allowed. */
OF_API void of_hook_release(of_hook hook);

/* Computes the gradients of the inputs of a function of a user. `grads` has the gradient of each output, zeros where
 * none arrived. Sets each wanted item of `results` to a new reference, or leaves it NULL where the gradient is zero. */
typedef of_status (*of_backward_function)(void* context, const of_tensor* grads, size_t grad_count, const bool* wanted,
                                          of_tensor* results, size_t result_count);
/* Records a function of a user: makes `outputs`, which were computed from `inputs` without recording, its results. Does
 * nothing if no input requires a gradient or the thread does not record. destroy(context) is called once in any case.
 * `name` is copied. */
OF_API of_status of_record_function(const char* name, const of_tensor* inputs, size_t input_count,
                                    const of_tensor* outputs, size_t output_count, of_backward_function backward,
                                    void* context, of_deleter destroy);

#ifdef __cplusplus
}
#endif

#endif /* ONEFLOW_AUTOGRAD_H_ */
