// What launchers of jobs say by environment variables.
#include <commnet/commnet.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/status.h"

namespace {

struct Variables {
  const char *rank, *size;
};

constexpr Variables kLaunchers[] = {
    {"COMMNET_RANK", "COMMNET_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    {"PMI_RANK", "PMI_SIZE"},                          // MPICH, and Slurm with PMI
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

std::optional<uint32_t> number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  uint32_t number = 0;
  if (text == nullptr || *text == '\0') return {};
  const char* const end = text + std::strlen(text);
  const auto [read, error] = std::from_chars(text, end, number);
  if (error != std::errc() || read != end)
    commnet::fail(CN_INVALID_ARGUMENT, "%s must be a number, it is '%s'", variable, text);
  return number;
}

}  // namespace

extern "C" cn_status cn_job_of_environment(uint32_t* rank, uint32_t* size) {
  return commnet::guarded([&] {
    if (rank == nullptr || size == nullptr) commnet::fail(CN_INVALID_ARGUMENT, "rank or size is NULL");
    for (const Variables& launcher : kLaunchers) {
      const auto own = number_of(launcher.rank), all = number_of(launcher.size);
      if (!own || !all) continue;
      *rank = *own;
      *size = *all;
      return;
    }
    commnet::fail(CN_UNSUPPORTED, "the environment has neither COMMNET_RANK and COMMNET_SIZE nor those of a launcher");
  });
}
