#include "communicator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "process.h"

namespace oneflow::mpi {

namespace {

using Clock = std::chrono::steady_clock;
using Lock = std::lock_guard<std::recursive_mutex>;

// The tag of messages. Offers use the tags after it.
constexpr int kMessageTag = 0;
// The size of the parts in which large memory is sent: each that completes shows who waits that something moves. MPI
// counts bytes by an int.
constexpr size_t kMostBytes = size_t{2} << 20;
// For how long a rank that leaves waits until its messages are received.
constexpr Clock::duration kParting = std::chrono::seconds(1);
// For how long it sleeps meanwhile, as MPI cannot wake it.
constexpr Clock::duration kNap = std::chrono::microseconds(200);

constexpr const char* kFinalized = "the program has finalized MPI";
constexpr const char* kHasLeft = "it has left the job";

// Ignored by a copy of the communicator.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

}  // namespace

// ---------------------------------------------------------------- joining and leaving

Communicator::Communicator(const Library& mpi, const of_communicator_options& options)
    : mpi_(mpi), options_(options), requests_(mpi), others_(options.size) {}

Communicator::~Communicator() {
  if (keyval_ != MPI_KEYVAL_INVALID && !is_over_) {
    mpi_.Comm_delete_attr(mpi_.self, keyval_);  // which leaves
    mpi_.Comm_free_keyval(&keyval_);
  }
  // MPI may still access the memory of the others.
  for (auto each = transfers_.begin(); each != transfers_.end();) {
    Transfer& transfer = *each++;
    if (transfer.pending == 0) end(transfer, "the job was left");
  }
}

of_status Communicator::failed(int code) const {
  return code == MPI_SUCCESS ? OF_OK : options_.fail(OF_COMMUNICATION_ERROR, mpi_.text(code).c_str());
}

of_status Communicator::join() {
  std::string reason;
  if (!initialize(mpi_, &reason)) return options_.fail(OF_COMMUNICATION_ERROR, reason.c_str());
  int level = MPI_THREAD_SINGLE, is_main = 0, rank = 0, size = 0, has_most = 0;
  mpi_.Query_thread(&level);
  mpi_.Is_thread_main(&is_main);
  is_bound_to_thread_ = level < MPI_THREAD_SERIALIZED;
  if (is_bound_to_thread_ && !is_main)
    return options_.fail(OF_COMMUNICATION_ERROR,
                         "the program has initialized MPI for one thread, and this is another one: initialize it with "
                         "MPI_THREAD_MULTIPLE");
  mpi_.Comm_rank(mpi_.world, &rank);
  mpi_.Comm_size(mpi_.world, &size);
  if (static_cast<uint32_t>(rank) != options_.rank || static_cast<uint32_t>(size) != options_.size)
    return options_.fail(OF_COMMUNICATION_ERROR,
                         ("this process is rank " + std::to_string(options_.rank) + " of " +
                          std::to_string(options_.size) + ", but MPI has rank " + std::to_string(rank) + " of " +
                          std::to_string(size) + ": it must be started by the launcher of the MPI that it loads")
                             .c_str());
  int* most = nullptr;
  mpi_.Comm_get_attr(mpi_.world, MPI_TAG_UB, &most, &has_most);
  constexpr int kLeastUpperBound = 32767;  // which MPI grants
  most_tag_ = has_most ? *most : kLeastUpperBound;
  if (const of_status status = duplicate_world()) return status;
  // MPI_Finalize begins with deleting the attributes of MPI_COMM_SELF.
  int code = mpi_.Comm_create_keyval(copy_nothing, world_is_finalized, &keyval_, nullptr);
  if (code == MPI_SUCCESS) code = mpi_.Comm_set_attr(mpi_.self, keyval_, this);
  return failed(code);
}

// Waits for all ranks.
of_status Communicator::duplicate_world() {
  MPI_Request request;
  auto comm = std::make_unique<MPI_Comm>();
  if (const int code = mpi_.Comm_idup(mpi_.world, comm.get(), &request)) return failed(code);
  const auto deadline = Clock::now() + std::chrono::milliseconds(options_.timeout_ms);
  for (int is_done = 0;;) {
    if (const int code = mpi_.Test(&request, &is_done, MPI_STATUS_IGNORE)) return failed(code);
    if (is_done) break;
    if (Clock::now() >= deadline) {
      static_cast<void>(comm.release());  // MPI sets it once the others come
      return options_.fail(OF_COMMUNICATION_ERROR, "not all ranks have joined the job within its timeout");
    }
    std::this_thread::sleep_for(kNap);
  }
  comm_ = *comm;
  return failed(mpi_.Comm_set_errhandler(comm_, mpi_.errors_return));
}

int Communicator::world_is_finalized(MPI_Comm, int, void* self, void*) {
  static_cast<Communicator*>(self)->leave();
  return MPI_SUCCESS;
}

void Communicator::work_until(const std::function<bool()>& is_met) {
  const auto deadline = Clock::now() + kParting;
  while (!is_met() && Clock::now() < deadline)
    if (!work()) std::this_thread::sleep_for(kNap);
}

// Says a rank farewell, once: nothing is sent to it later.
void Communicator::part(uint32_t rank) {
  if (others_[rank].is_parted) return;
  send(rank, {Kind::kFarewell, 0, 0});
  others_[rank].is_parted = true;
}

// Leaves the job. Waits, but not for long, until messages are received and the others have said farewell: then MPI has
// none left that nobody receives.
void Communicator::leave() {
  const Lock lock(mutex_);
  if (is_over_) return;
  is_leaving_ = true;
  for (uint32_t rank = 0; rank < options_.size; ++rank)
    if (rank != options_.rank) part(rank);
  others_[options_.rank].has_left = true;
  work_until([&] {
    return requests_.is_empty() &&
           std::all_of(others_.begin(), others_.end(), [](const Other& each) { return each.has_left; });
  });
  for (Transfer& each : transfers_)
    if (each.tag != 0) fail_fetch(each, "the job was left");
  work_until([&] { return requests_.is_empty(); });
  requests_.abandon();
  for (auto& each : incoming_)
    if (!each->is_complete) static_cast<void>(each->bytes.release());
  // The communicator is not freed: MPI might take what a rank sends late for a message of the next one.
  is_over_ = true;
  is_leaving_ = false;
}

// ---------------------------------------------------------------- messages

of_status Communicator::post(uint32_t rank, const void* data, size_t size) {
  const Lock lock(mutex_);
  if (size > kMessageLimit) return options_.fail(OF_INTERNAL_ERROR, "a message is too long");
  return send(rank, {Kind::kMessage, 0, 0}, data, size);
}

of_status Communicator::send(uint32_t rank, const Header& header, const void* data, size_t size) {
  if (is_over_) return options_.fail(OF_COMMUNICATION_ERROR, kFinalized);
  if (others_[rank].is_parted) return options_.fail(OF_COMMUNICATION_ERROR, kHasLeft);
  auto message = std::make_unique<Outgoing>(*this, rank);
  std::memcpy(message->bytes.get(), &header, sizeof header);
  if (size > 0) std::memcpy(message->bytes.get() + sizeof header, data, size);
  const int code = requests_.begin(*message, [&](MPI_Request* request) {
    return mpi_.Isend(message->bytes.get(), static_cast<int>(sizeof header + size), mpi_.byte, static_cast<int>(rank),
                      kMessageTag, comm_, request);
  });
  if (code != MPI_SUCCESS) {
    lose(rank, mpi_.text(code));
    return failed(code);
  }
  message.release();
  return OF_OK;
}

void Communicator::Outgoing::completed(int code, const MPI_Status&) {
  const std::unique_ptr<Outgoing> self(this);
  owner.keep_buffer(std::move(bytes));
  if (code != MPI_SUCCESS) owner.lose(rank, owner.mpi_.text(code));
}

Communicator::Buffer Communicator::take_buffer() {
  if (buffers_.empty()) return std::make_unique_for_overwrite<std::byte[]>(kBufferSize);
  Buffer buffer = std::move(buffers_.back());
  buffers_.pop_back();
  return buffer;
}

void Communicator::keep_buffer(Buffer buffer) {
  constexpr size_t kMostKept = 16;
  if (buffers_.size() < kMostKept) buffers_.push_back(std::move(buffer));
}

// Begins to receive the messages that have come.
void Communicator::look_for_messages() {
  while (true) {
    int is_there = 0, size = 0;
    MPI_Message found;
    MPI_Status status;
    int code = mpi_.Improbe(MPI_ANY_SOURCE, kMessageTag, comm_, &is_there, &found, &status);
    if (code == MPI_SUCCESS && !is_there) return;
    if (code == MPI_SUCCESS) code = mpi_.Get_count(&status, mpi_.byte, &size);
    if (code == MPI_SUCCESS) {
      incoming_.push_back(
          std::make_unique<Incoming>(*this, static_cast<uint32_t>(status.MPI_SOURCE), static_cast<size_t>(size)));
      Incoming& added = *incoming_.back();
      code = requests_.begin(added, [&](MPI_Request* request) {
        return mpi_.Imrecv(added.bytes.get(), size, mpi_.byte, &found, request);
      });
    }
    if (code != MPI_SUCCESS) return lose_all(mpi_.text(code));
  }
}

void Communicator::Incoming::completed(int code, const MPI_Status&) {
  is_complete = true;
  if (code == MPI_SUCCESS) return;
  size = 0;
  owner.lose(rank, owner.mpi_.text(code));
}

// Takes messages that are complete, in the order in which they came.
bool Communicator::take_messages() {
  bool took = false;
  while (!incoming_.empty() && incoming_.front()->is_complete) {
    const std::unique_ptr<Incoming> message = std::move(incoming_.front());
    incoming_.pop_front();
    if (message->size >= sizeof(Header)) take(message->rank, message->bytes.get(), message->size);
    keep_buffer(std::move(message->bytes));
    took = true;
  }
  return took;
}

void Communicator::take(uint32_t rank, const std::byte* bytes, size_t size) {
  Header header;
  std::memcpy(&header, bytes, sizeof header);
  switch (header.kind) {
    case Kind::kMessage:
      if (!is_leaving_) options_.arrived(options_.context, rank, bytes + sizeof header, size - sizeof header);
      return;
    case Kind::kWanted:
      return send_wanted(rank, header);
    case Kind::kNone:
      for (Transfer& each : transfers_)
        if (each.rank == rank && each.tag == header.tag) return fail_fetch(each, "the offer was withdrawn");
      return;
    case Kind::kTaken:
      if (Transfer* const taken = find(rank, header.offer)) {
        taken->is_taken = true;
        end_if_complete(*taken);
      }
      return;
    case Kind::kFarewell:
      lose(rank, kHasLeft);
      return part(rank);
  }
}

// ---------------------------------------------------------------- offers and fetches

// Begins a request for each part of some bytes. Returns the code of the first one that fails.
template <class Begin>
int Communicator::begin_parts(Transfer& transfer, size_t size, Begin&& begin) {
  size_t done = 0;
  do {
    const size_t part = std::min(size - done, kMostBytes);
    const int code =
        requests_.begin(transfer, [&](MPI_Request* request) { return begin(done, static_cast<int>(part), request); });
    if (code != MPI_SUCCESS) return code;
    ++transfer.pending;
    done += part;
  } while (done < size);
  return MPI_SUCCESS;
}

of_status Communicator::offer(uint32_t rank, const void* data, size_t size, void* user, of_communicator_key* key) {
  const Lock lock(mutex_);
  Transfer& transfer = transfers_.emplace_back(*this, user, rank);
  transfer.offer = ++last_offer_;
  transfer.data = data;
  transfer.size = size;
  static_assert(sizeof transfer.offer <= sizeof key->bytes);
  std::memset(key->bytes, 0, sizeof key->bytes);
  std::memcpy(key->bytes, &transfer.offer, sizeof transfer.offer);
  return OF_OK;
}

of_status Communicator::fetch(uint32_t rank, const of_communicator_key& key, void* data, size_t size, void* user) {
  const Lock lock(mutex_);
  if (is_over_) return options_.fail(OF_COMMUNICATION_ERROR, kFinalized);
  if (others_[rank].has_left) return options_.fail(OF_COMMUNICATION_ERROR, kHasLeft);
  Transfer& transfer = transfers_.emplace_back(*this, user, rank);
  std::memcpy(&transfer.offer, key.bytes, sizeof transfer.offer);
  transfer.tag = last_tag_ = last_tag_ % most_tag_ + 1;
  const int code = begin_parts(transfer, size, [&](size_t from, int count, MPI_Request* request) {
    return mpi_.Irecv(static_cast<std::byte*>(data) + from, count, mpi_.byte, static_cast<int>(rank), transfer.tag,
                      comm_, request);
  });
  if (code == MPI_SUCCESS) {
    send(rank, {Kind::kWanted, transfer.tag, transfer.offer});
  } else {
    fail_fetch(transfer, mpi_.text(code));
  }
  return OF_OK;
}

// Sends the bytes of an offer under the tag that its receiver has named.
void Communicator::send_wanted(uint32_t rank, const Header& header) {
  Transfer* const wanted = find(rank, header.offer);
  if (!wanted || is_leaving_) {
    send(rank, {Kind::kNone, header.tag, header.offer});
    return;
  }
  const int code = begin_parts(*wanted, wanted->size, [&](size_t from, int count, MPI_Request* request) {
    return mpi_.Isend(static_cast<const std::byte*>(wanted->data) + from, count, mpi_.byte, static_cast<int>(rank),
                      header.tag, comm_, request);
  });
  if (code != MPI_SUCCESS) lose(rank, mpi_.text(code));
}

void Communicator::withdraw(void* user) {
  const Lock lock(mutex_);
  for (Transfer& each : transfers_)
    if (each.user == user && each.pending == 0) return end(each, "the offer was withdrawn");
}

void Communicator::Transfer::completed(int code, const MPI_Status&) {
  if (code != MPI_SUCCESS && failure.empty()) failure = owner.mpi_.text(code);
  --pending;
  owner.end_if_complete(*this);
}

Communicator::Transfer* Communicator::find(uint32_t rank, uint64_t offer) {
  for (Transfer& each : transfers_)
    if (each.tag == 0 && each.rank == rank && each.offer == offer) return &each;
  return nullptr;
}

void Communicator::end_if_complete(Transfer& transfer) {
  if (transfer.pending > 0) return;
  if (transfer.failure.empty()) {
    const bool is_offer = transfer.tag == 0;
    if (is_offer && !transfer.is_taken) return;
    if (!is_offer) send(transfer.rank, {Kind::kTaken, 0, transfer.offer});
  }
  end(transfer, transfer.failure);
}

void Communicator::end(Transfer& transfer, std::string failure) {
  void* const user = transfer.user;
  transfers_.remove_if([&](const Transfer& each) { return &each == &transfer; });
  const bool has_failed = !failure.empty();
  options_.ended(options_.context, user, has_failed ? OF_COMMUNICATION_ERROR : OF_OK,
                 has_failed ? failure.c_str() : nullptr);
}

// Lets a fetch end to which its rank sends nothing. A receive must not be cancelled twice.
void Communicator::fail_fetch(Transfer& transfer, const std::string& failure) {
  if (transfer.failure.empty()) transfer.failure = failure;
  if (!is_over_ && !std::exchange(transfer.is_cancelled, true)) requests_.cancel(transfer);
}

// ---------------------------------------------------------------- progress

void Communicator::lose(uint32_t rank, const std::string& text) {
  Other& other = others_[rank];
  other.has_left = true;
  if (is_leaving_ || std::exchange(other.is_lost, true)) return;
  for (auto each = transfers_.begin(); each != transfers_.end();) {
    Transfer& transfer = *each++;
    if (transfer.rank != rank) continue;
    if (transfer.pending == 0) {
      end(transfer, text);
    } else if (transfer.tag != 0) {
      fail_fetch(transfer, text);
    }
  }
  options_.lost(options_.context, rank, text.c_str());
}

void Communicator::lose_all(const std::string& text) {
  for (uint32_t rank = 0; rank < options_.size; ++rank)
    if (rank != options_.rank) lose(rank, text);
}

bool Communicator::work() {
  look_for_messages();
  int code = MPI_SUCCESS;
  const bool did = requests_.advance(&code);
  if (code != MPI_SUCCESS) lose_all(mpi_.text(code));
  return take_messages() || did;
}

bool Communicator::progress() {
  const Lock lock(mutex_);
  if (!is_over_) return work();
  lose_all(kFinalized);
  return false;
}

}  // namespace oneflow::mpi
