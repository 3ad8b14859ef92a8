// Requests that are under way.
#ifndef ONEFLOW_COMMUNICATORS_MPI_REQUESTS_H_
#define ONEFLOW_COMMUNICATORS_MPI_REQUESTS_H_

#include <vector>

#include "library.h"

namespace oneflow::mpi {

// What one or several requests are for.
struct Activity {
  virtual ~Activity() = default;
  // Is told that a request has completed, or has failed with a code.
  virtual void completed(int code, const MPI_Status& status) = 0;
};

class Requests {
 public:
  explicit Requests(const Library& mpi) : mpi_(mpi) {}

  // Begins a request by a function that is given where to put it. Returns the code of the function.
  template <class Function>
  int begin(Activity& activity, Function&& function) {
    MPI_Request request;
    const int code = function(&request);
    if (code != MPI_SUCCESS) return code;
    requests_.push_back(request);
    activities_.push_back(&activity);
    return code;
  }
  // Tells activities what has completed. Returns whether anything has. Sets the code of a failure of all of them.
  bool advance(int* code);
  // Cancels requests to receive, which complete soon if nothing is received by them yet.
  void cancel(const Activity& activity);
  bool is_empty() const { return requests_.empty(); }
  // Forgets all requests, whose memory MPI may access later.
  void abandon();

 private:
  struct Completed {
    Activity* activity;
    int code;
    MPI_Status status;
  };

  const Library& mpi_;
  // Request i belongs to activity i.
  std::vector<MPI_Request> requests_;
  std::vector<Activity*> activities_;
  // Of advance(), which keeps their memory.
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Completed> completed_;
};

}  // namespace oneflow::mpi

#endif  // ONEFLOW_COMMUNICATORS_MPI_REQUESTS_H_
