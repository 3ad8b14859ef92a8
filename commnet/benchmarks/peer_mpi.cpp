// Measures Open MPI, with two processes of mpirun: half a round trip of 8 bytes, and how fast large transfers of
// several sizes go one way, `depth` of them under way at a time: messages, reads and writes of the program's own
// memory, and those of memory that MPI has allocated. The processes look for work all the time. Prints a JSON object.
#include <mpi.h>

#include <functional>

#include "processes.h"

namespace {

constexpr int kTag = 0, kFewest = 3;
constexpr double kAll = 0.1;
int rank, other;

// Returns the seconds of the best of several runs of body(), which take a tenth of a second together.
double best_of(const std::function<void()>& body) {
  const auto first = Clock::now();
  double best = 1e9;
  int goes_on = 1;
  for (int i = 1; goes_on != 0; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = Clock::now();
    body();
    const auto end = Clock::now();
    best = std::min(best, seconds(begin, end));
    goes_on = i < kFewest || seconds(first, end) < kAll;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return best;
}

double half_round_trip() {
  constexpr int kCount = 5000, kSize = 8;
  char bytes[kSize] = {};
  const auto send = [&] { MPI_Send(bytes, kSize, MPI_BYTE, other, kTag, MPI_COMM_WORLD); };
  const auto receive = [&] { MPI_Recv(bytes, kSize, MPI_BYTE, other, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); };
  return best_of([&] {
           for (int i = 0; i < kCount; ++i) {
             if (rank == 0) send();
             receive();
             if (rank == 1) send();
           }
         }) /
         kCount / 2;
}

// Returns the GB/s of transfers of which run() does `count`.
double speed(int size, int count, const std::function<void()>& run) {
  return static_cast<double>(size) * count / best_of(run) / 1e9;
}

double messages(int size, int count, int depth) {
  std::vector<char> bytes(static_cast<size_t>(size), 1);
  std::vector<MPI_Request> requests(static_cast<size_t>(depth));
  return speed(size, count, [&] {
    for (int i = 0; i < count; i += depth) {
      for (MPI_Request& each : requests)
        if (rank == 0)
          MPI_Isend(bytes.data(), size, MPI_BYTE, other, kTag, MPI_COMM_WORLD, &each);
        else
          MPI_Irecv(bytes.data(), size, MPI_BYTE, other, kTag, MPI_COMM_WORLD, &each);
      MPI_Waitall(depth, requests.data(), MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  });
}

// Reads or writes the memory of the other process.
double accesses(int size, int count, int depth, bool reads, bool is_allocated) {
  std::vector<char> bytes(static_cast<size_t>(size), 1), own(is_allocated ? 0 : static_cast<size_t>(size), 1);
  void* data = own.data();
  MPI_Win window;
  if (is_allocated)
    MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &data, &window);
  else
    MPI_Win_create(data, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  std::fill_n(static_cast<char*>(data), size, 1);
  MPI_Win_lock_all(0, window);
  const double result = speed(size, count, [&] {
    for (int i = 0; rank == 0 && i < count; i += depth) {
      for (int k = 0; k < depth; ++k)
        if (reads)
          MPI_Get(bytes.data(), size, MPI_BYTE, other, 0, size, MPI_BYTE, window);
        else
          MPI_Put(bytes.data(), size, MPI_BYTE, other, 0, size, MPI_BYTE, window);
      MPI_Win_flush(other, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  });
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  return result;
}

}  // namespace

int main(int count, char** values) {
  MPI_Init(&count, &values);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  const Arguments given(count, values);
  pin(given.cpu(static_cast<size_t>(rank)));
  std::ostringstream text;
  text << "{\"half_us\": " << half_round_trip() * 1e6;
  for (const int size : {64 << 10, 1 << 20, 64 << 20}) {
    const int depth = size > 1 << 20 ? 2 : size > 64 << 10 ? 4 : 16, times = 4 * depth;
    const std::string end = " " + std::to_string(size) + "\": ";
    text << ", \"messages" << end << messages(size, times, depth);
    for (const bool reads : {true, false})
      for (const bool is_allocated : {true, false})
        text << ", \"" << (is_allocated ? "allocated " : "") << (reads ? "reads" : "writes") << end
             << accesses(size, times, depth, reads, is_allocated);
  }
  if (rank == 0) std::printf("%s}\n", text.str().c_str());
  MPI_Finalize();
}
