#include "launch/variables.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "launch/addresses.h"
#include "plugin/processors.h"

namespace oneflow::launch {

Variables variables_of_job(int size, const std::string& meeting, const std::string& secret, int restart, int threads) {
  Variables variables{
      "ONEFLOW_WORLD_SIZE=" + std::to_string(size),
      "ONEFLOW_MEETING=" + meeting,
      "ONEFLOW_SECRET=" + secret,
      "ONEFLOW_RESTART=" + std::to_string(restart),
  };
  if (threads != 0) variables.push_back("ONEFLOW_NUM_THREADS=" + std::to_string(threads));
  return variables;
}

Variables variables_of_rank(int rank, int local_rank, int count, const Variables& common,
                            const std::string& meeting_address) {
  Variables variables;
  if (std::getenv("ONEFLOW_NUM_THREADS") == nullptr)
    variables.push_back("ONEFLOW_NUM_THREADS=" + std::to_string(std::max(1, cpu::usable_processors() / count)));
  variables.insert(variables.end(), common.begin(), common.end());
  variables.push_back("ONEFLOW_LOCAL_WORLD_SIZE=" + std::to_string(count));
  variables.push_back("ONEFLOW_LISTEN");
  if (!meeting_address.empty()) variables.back() += "=" + own_address_towards(meeting_address);
  variables.push_back("ONEFLOW_RANK=" + std::to_string(rank));
  variables.push_back("ONEFLOW_LOCAL_RANK=" + std::to_string(local_rank));
  return variables;
}

int apply(const std::string& variable) {
  const size_t equals = variable.find('=');
  const std::string name = variable.substr(0, equals);
  const int result =
      equals == std::string::npos ? unsetenv(name.c_str()) : setenv(name.c_str(), &variable[equals + 1], 1);
  return result == 0 ? 0 : errno;
}

}  // namespace oneflow::launch
