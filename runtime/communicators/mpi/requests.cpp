#include "requests.h"

#include <algorithm>
#include <functional>

namespace oneflow::mpi {

bool Requests::advance(int* code) {
  const size_t total = requests_.size();
  if (total == 0) return false;
  indices_.resize(total);
  statuses_.resize(total);
  int count = 0;
  const int result =
      mpi_.Testsome(static_cast<int>(total), requests_.data(), &count, indices_.data(), statuses_.data());
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) {
    *code = result;
    return false;
  }
  if (count <= 0) return false;
  completed_.clear();
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const int failure = result == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : MPI_SUCCESS;
    completed_.push_back({activities_[static_cast<size_t>(indices_[i])], failure, statuses_[i]});
  }
  // The last ones take the places of those that have completed.
  std::sort(indices_.begin(), indices_.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) {
    const auto place = static_cast<size_t>(indices_[static_cast<size_t>(i)]);
    requests_[place] = requests_.back();
    activities_[place] = activities_.back();
    requests_.pop_back();
    activities_.pop_back();
  }
  for (const Completed& each : completed_) each.activity->completed(each.code, each.status);
  return true;
}

void Requests::cancel(const Activity& activity) {
  for (size_t i = 0; i < requests_.size(); ++i)
    if (activities_[i] == &activity) mpi_.Cancel(&requests_[i]);
}

void Requests::abandon() {
  for (MPI_Request& each : requests_) mpi_.Request_free(&each);
  requests_.clear();
  activities_.clear();
}

}  // namespace oneflow::mpi
