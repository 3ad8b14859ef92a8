// The communicator over MPI.
//
// All messages of a rank have one tag and begin with a header. Bytes that are offered stay where they are until a rank
// wants them, under a tag that it names: so an offer can be withdrawn, and no send is left that nobody receives.
#ifndef ONEFLOW_COMMUNICATORS_MPI_COMMUNICATOR_H_
#define ONEFLOW_COMMUNICATORS_MPI_COMMUNICATOR_H_

#include <oneflow/communicator.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "requests.h"

namespace oneflow::mpi {

class Communicator {
 public:
  static constexpr uint32_t kMessageLimit = 64 << 10;
  static constexpr uint32_t kOfferFrom = 8 << 10;

  Communicator(const Library& mpi, const of_communicator_options& options);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  // The functions of the table.
  of_status join();
  bool is_bound_to_thread() const { return is_bound_to_thread_; }
  of_status post(uint32_t rank, const void* data, size_t size);
  of_status offer(uint32_t rank, const void* data, size_t size, void* user, of_communicator_key* key);
  of_status fetch(uint32_t rank, const of_communicator_key& key, void* data, size_t size, void* user);
  void withdraw(void* user);
  bool progress();

 private:
  enum class Kind : int32_t {
    kMessage,   // bytes follow
    kWanted,    // the bytes of `offer` are to be sent under `tag`
    kNone,      // the offer was withdrawn: nothing is sent with `tag`
    kTaken,     // the bytes of `offer` have come
    kFarewell,  // the last message: the sender leaves the job, or knows that the receiver does
  };
  struct Header {
    Kind kind;
    int32_t tag;
    uint64_t offer;
  };
  static constexpr size_t kBufferSize = sizeof(Header) + kMessageLimit;
  using Buffer = std::unique_ptr<std::byte[]>;

  // A message that is being sent, which keeps itself until it is.
  struct Outgoing final : Activity {
    Outgoing(Communicator& owner, uint32_t rank) : owner(owner), rank(rank), bytes(owner.take_buffer()) {}
    void completed(int code, const MPI_Status& status) override;

    Communicator& owner;
    const uint32_t rank;
    Buffer bytes;
  };
  // A message that is being received.
  struct Incoming final : Activity {
    Incoming(Communicator& owner, uint32_t rank, size_t size)
        : owner(owner), rank(rank), size(size), bytes(owner.take_buffer()) {}
    void completed(int code, const MPI_Status& status) override;

    Communicator& owner;
    const uint32_t rank;
    size_t size;
    Buffer bytes;
    bool is_complete = false;
  };
  // An offer, or a fetch.
  struct Transfer final : Activity {
    Transfer(Communicator& owner, void* user, uint32_t rank) : owner(owner), user(user), rank(rank) {}
    void completed(int code, const MPI_Status& status) override;

    Communicator& owner;
    void* const user;  // the runtime's
    const uint32_t rank;
    uint64_t offer = 0;
    int tag = 0;                 // of a fetch; 0: an offer
    const void* data = nullptr;  // of an offer
    size_t size = 0;
    unsigned pending = 0;  // requests
    bool is_taken = false, is_cancelled = false;
    std::string failure;
  };
  struct Other {
    bool has_left = false, is_lost = false, is_parted = false;
  };

  of_status failed(int code) const;
  of_status duplicate_world();
  of_status send(uint32_t rank, const Header& header, const void* data = nullptr, size_t size = 0);
  template <class Begin>
  int begin_parts(Transfer& transfer, size_t size, Begin&& begin);
  Buffer take_buffer();
  void keep_buffer(Buffer buffer);
  void look_for_messages();
  bool take_messages();
  void take(uint32_t rank, const std::byte* bytes, size_t size);
  void send_wanted(uint32_t rank, const Header& header);
  Transfer* find(uint32_t rank, uint64_t offer);
  void end_if_complete(Transfer& transfer);
  void end(Transfer& transfer, std::string failure);
  void fail_fetch(Transfer& transfer, const std::string& failure);
  void lose(uint32_t rank, const std::string& text);
  void lose_all(const std::string& text);
  bool work();
  void part(uint32_t rank);
  void leave();
  void work_until(const std::function<bool()>& is_met);

  static int world_is_finalized(MPI_Comm, int, void* self, void*);

  const Library& mpi_;
  const of_communicator_options options_;
  // The program may finalize MPI while a thread of the runtime makes progress.
  std::recursive_mutex mutex_;
  MPI_Comm comm_{};
  int keyval_ = MPI_KEYVAL_INVALID;  // of what tells that MPI is finalized
  int last_tag_ = 0, most_tag_ = 0;
  uint64_t last_offer_ = 0;
  Requests requests_;
  std::vector<Buffer> buffers_;  // which are not used
  std::deque<std::unique_ptr<Incoming>> incoming_;
  std::list<Transfer> transfers_;
  std::vector<Other> others_;
  bool is_bound_to_thread_ = false;
  bool is_leaving_ = false, is_over_ = false;
};

}  // namespace oneflow::mpi

#endif  // ONEFLOW_COMMUNICATORS_MPI_COMMUNICATOR_H_
