// A child process with an endpoint, for tests of what happens between processes.
#ifndef COMMNET_TESTS_CHILD_H_
#define COMMNET_TESTS_CHILD_H_

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <utility>

#include "support.h"

namespace commnet::tests {

// Runs `work` with an endpoint and with the address that this process tells it.
class Child {
 public:
  // Must be called before this process has endpoints. `prepare` runs before the child has one.
  template <class Work>
  Child(const std::string& way, Work&& work, const std::function<void()>& prepare = {}) {
    int ends[2];
    if (pipe(ends) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      close(ends[1]);
      alarm(60);
      std::string address(1024, '\0');
      const ssize_t size = read(ends[0], address.data(), address.size());
      address.resize(size > 0 ? static_cast<size_t>(size) : 0);
      if (prepare) prepare();
      {
        const EndpointHandle endpoint = make_endpoint("child", way);
        work(endpoint.get(), address);
      }
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    close(ends[0]);
    pipe_ = ends[1];
  }
  ~Child() {
    end();
    ends_well();
  }
  void tell(const std::string& address) {
    EXPECT_EQ(write(pipe_, address.data(), address.size()), static_cast<ssize_t>(address.size()));
    close(pipe_);
  }
  void end() const {
    if (process_ > 0) kill(process_, SIGKILL);
  }
  // Waits for its end, and returns whether it has ended well.
  bool ends_well() {
    if (process_ <= 0) return false;
    int status = 0;
    waitpid(std::exchange(process_, -1), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
};

}  // namespace commnet::tests

#endif  // COMMNET_TESTS_CHILD_H_
