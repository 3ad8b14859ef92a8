// The variables by which a rank knows its job: NAME=VALUE, or NAME if there must be none.
#ifndef ONEFLOW_LAUNCH_VARIABLES_H_
#define ONEFLOW_LAUNCH_VARIABLES_H_

#include <string>
#include <vector>

namespace oneflow::launch {

using Variables = std::vector<std::string>;

// Returns those of all ranks of a job. `meeting` is where they meet, `threads` how many each uses; 0: they share out
// the processors of their host.
Variables variables_of_job(int size, const std::string& meeting, const std::string& secret, int restart, int threads);

// Returns those of one of `count` ranks on this host, with `common` ones, which win. It listens at the address that
// faces `meeting_address`, or on this host alone if that is empty.
Variables variables_of_rank(int rank, int local_rank, int count, const Variables& common,
                            const std::string& meeting_address);

// Sets or removes a variable of this process. Returns 0, or the number of the error. Safe after fork().
int apply(const std::string& variable);

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_VARIABLES_H_
