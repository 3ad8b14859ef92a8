// The communicator over CommNet, for which nothing needs to be installed.
#include <commnet/commnet.h>
#include <oneflow/communicator.h>

#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

// The numbers of handlers: of messages, and of the keys of offers that were taken.
constexpr uint32_t kMessage = 1, kTaken = 2;
// For how long peers need not be woken by a system call, after something has come: the runtime looks for messages about
// as long before it sleeps.
constexpr uint32_t kBusyPoll = 60;
// How often events are looked for while nothing else comes.
constexpr unsigned kLooks = 64;
// Offers of at most so many bytes to ranks of this host are copied to memory that those ranks have mapped: they read it
// without a system call, and need not ask how it is reached, as that of a new offer. There are at most so many such
// blocks, and so many bytes in them: what is too large for caches is better copied once.
constexpr size_t kStagedBytes = 1 << 20, kMostStaged = 16, kMostStagedBytes = 1 << 20;
// The sizes from which on offers are faster than messages, to ranks of this host and of other ones.
constexpr size_t kOfferFromHere = 16 << 10, kOfferFromElsewhere = 256 << 10;

static_assert(sizeof(cn_token) == sizeof(of_communicator_key));

of_status status_of(cn_status status) {
  switch (status) {
    case CN_OK:
      return OF_OK;
    case CN_INVALID_ARGUMENT:
      return OF_INVALID_ARGUMENT;
    case CN_OUT_OF_MEMORY:
      return OF_OUT_OF_MEMORY;
    case CN_UNSUPPORTED:
      return OF_UNSUPPORTED;
    case CN_INTERNAL_ERROR:
      return OF_INTERNAL_ERROR;
    default:
      return OF_COMMUNICATION_ERROR;
  }
}

class CommNet {
 public:
  explicit CommNet(const of_communicator_options& options)
      : options_(options), peers_(options.size), senders_(options.size) {}
  CommNet(const CommNet&) = delete;
  CommNet& operator=(const CommNet&) = delete;
  ~CommNet() {
    is_closing_ = true;
    cn_endpoint_close(endpoint_);
    while (!transfers_.empty()) end(transfers_.front(), OF_COMMUNICATION_ERROR, "the job was left");
    for (const Staged& each : spare_) cn_memory_release(each.memory);
  }

  of_status join() {
    if (*options_.meeting == '\0')
      return options_.fail(OF_INVALID_ARGUMENT,
                           "meeting must say where the processes find each other: 'file:/an/empty/folder' or "
                           "'tcp://host:port'");
    const std::string listen = *options_.listen ? "tcp://" + std::string(options_.listen) + ":0" : "";
    cn_endpoint_options endpoint{};
    endpoint.struct_size = sizeof endpoint;
    const std::string name = "rank" + std::to_string(options_.rank);
    endpoint.name = name.c_str();
    endpoint.secret = options_.secret;
    endpoint.secret_size = std::strlen(options_.secret);
    endpoint.listen = listen.empty() ? nullptr : listen.c_str();
    endpoint.flags = CN_MANUAL_PROGRESS;
    endpoint.busy_poll_us = kBusyPoll;
    endpoint.peer_timeout_ms = options_.timeout_ms;
    cn_job_options job{};
    job.struct_size = sizeof job;
    job.rank = options_.rank;
    job.size = options_.size;
    job.meeting = options_.meeting;
    job.timeout_ms = options_.timeout_ms;
    cn_status status = cn_endpoint_create(&endpoint, &endpoint_);
    if (status == CN_OK) status = cn_set_handler(endpoint_, kMessage, &take_message, this);
    if (status == CN_OK) status = cn_set_handler(endpoint_, kTaken, &take_taken, this);
    if (status == CN_OK) status = cn_watch_peers(endpoint_, true);
    if (status == CN_OK) status = cn_join(endpoint_, &job, peers_.data(), options_.size);
    if (status != CN_OK) return failed(status);
    for (uint32_t rank = 0; rank < options_.size; ++rank)
      if (peers_[rank] != nullptr) senders_[rank] = &ranks_.emplace(peers_[rank], Sender{*this, rank}).first->second;
    return OF_OK;
  }

  of_status post(uint32_t rank, const void* data, size_t size) { return send(rank, kMessage, data, size); }

  size_t offer_from(uint32_t rank) const { return is_here(rank) ? kOfferFromHere : kOfferFromElsewhere; }

  of_status offer(uint32_t rank, const void* data, size_t size, void* user, of_communicator_key* key) {
    Transfer& transfer = add(rank, user);
    if (size > kStagedBytes || !is_here(rank) || !stage(transfer, data, size)) {
      cn_status status = cn_memory_register(endpoint_, const_cast<void*>(data), size, CN_READ, &transfer.memory);
      if (status == CN_OK) status = cn_memory_token(transfer.memory, CN_READ, &transfer.token);
      if (status != CN_OK) return dropped(transfer, status);
    }
    std::memcpy(key->bytes, transfer.token.bytes, sizeof key->bytes);
    return OF_OK;
  }

  of_status fetch(uint32_t rank, const of_communicator_key* key, void* data, size_t size, void* user) {
    Transfer& transfer = add(rank, user);
    std::memcpy(transfer.token.bytes, key->bytes, sizeof key->bytes);
    cn_call call{};
    call.struct_size = sizeof call;
    call.user = &transfer;
    call.done = [](void* given, cn_status status, const char* text) {
      Transfer& done = *static_cast<Transfer*>(given);
      done.owner.end_fetch(done, status, text);
    };
    const cn_status status = cn_read(peers_[rank], &transfer.token, 0, data, size, &call, &transfer.operation);
    return status == CN_OK ? OF_OK : dropped(transfer, status);
  }

  void withdraw(void* user) {
    for (Transfer& each : transfers_) {
      if (each.user != user) continue;
      if (each.operation != nullptr) return cn_cancel(each.operation);
      return end(each, OF_COMMUNICATION_ERROR, "the offer was withdrawn");
    }
  }

  bool progress() {
    const uint64_t before = done_;
    cn_progress(endpoint_, 0);
    if (done_ == before && ++looks_ % kLooks == 0) take_events();
    return done_ != before;
  }

  int descriptor() const { return cn_event_descriptor(endpoint_); }

 private:
  struct Sender {
    CommNet& owner;
    uint32_t rank;
    bool is_connected = false;  // has got a message
    bool is_lost = false;
  };
  // Memory that other ranks of this host map.
  struct Staged {
    cn_memory* memory = nullptr;
    void* data = nullptr;
    cn_token token{};
    size_t size = 0;  // of the bytes in it
  };
  // An offer whose memory another rank reads, or a fetch.
  struct Transfer {
    CommNet& owner;
    void* user;  // the runtime's
    uint32_t rank;
    cn_token token{};
    cn_memory* memory = nullptr;        // of an offer
    Staged staged{};                    // where the bytes of an offer were copied to, if they were
    cn_operation* operation = nullptr;  // of a fetch
  };

  of_status failed(cn_status status) const { return options_.fail(status_of(status), cn_error()); }

  bool is_here(uint32_t rank) const { return std::strcmp(cn_peer_transport(peers_[rank]), "shared") == 0; }

  // Copies the bytes of an offer. Returns whether there was room for them.
  bool stage(Transfer& transfer, const void* data, size_t size) {
    if (staged_bytes_ + size > kMostStagedBytes || (spare_.empty() && !allocate_spare())) return false;
    transfer.staged = spare_.back();
    transfer.staged.size = size;
    staged_bytes_ += size;
    spare_.pop_back();
    std::memcpy(transfer.staged.data, data, size);
    transfer.memory = transfer.staged.memory;
    transfer.token = transfer.staged.token;
    return true;
  }

  bool allocate_spare() {
    if (staged_count_ == kMostStaged) return false;
    Staged added{};
    cn_status status = cn_memory_alloc(endpoint_, kStagedBytes, CN_READ, &added.data, &added.memory);
    if (status == CN_OK) status = cn_memory_token(added.memory, CN_READ, &added.token);
    if (status != CN_OK) {
      cn_memory_release(added.memory);
      return false;
    }
    spare_.push_back(added);
    ++staged_count_;
    return true;
  }

  Transfer& add(uint32_t rank, void* user) { return transfers_.emplace_back(Transfer{*this, user, rank}); }

  void remove(Transfer& transfer) {
    staged_bytes_ -= transfer.staged.size;
    if (transfer.staged.memory != nullptr) --staged_count_;
    cn_memory_release(transfer.memory);
    cn_operation_release(transfer.operation);
    transfers_.remove_if([&](const Transfer& each) { return &each == &transfer; });
  }

  of_status dropped(Transfer& transfer, cn_status status) {
    const of_status result = failed(status);
    remove(transfer);
    return result;
  }

  void end(Transfer& transfer, of_status status, const char* text) {
    void* const user = transfer.user;
    remove(transfer);
    options_.ended(options_.context, user, status, text);
  }

  void end_fetch(Transfer& transfer, cn_status status, const char* text) {
    ++done_;
    if (is_closing_) return;
    if (status == CN_OK) send(transfer.rank, kTaken, transfer.token.bytes, sizeof transfer.token.bytes);
    end(transfer, status_of(status), text);
  }

  of_status send(uint32_t rank, uint32_t handler, const void* data, size_t size) {
    Sender& receiver = *senders_[rank];
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    // Tells of a rank that has left before it was connected.
    if (!receiver.is_connected) {
      call.user = &receiver;
      call.done = [](void* user, cn_status status, const char* text) {
        Sender& receiver = *static_cast<Sender*>(user);
        receiver.is_connected = status == CN_OK;
        if (status != CN_OK) receiver.owner.lose(receiver.rank, text);
      };
    }
    const cn_status status = cn_send(peers_[rank], handler, 0, data, size, &call, nullptr);
    if (status == CN_OK) return OF_OK;
    const std::string text = cn_error();
    lose(rank, text.c_str());
    return options_.fail(status_of(status), text.c_str());
  }

  void lose(uint32_t rank, const char* text) {
    ++done_;
    if (is_closing_ || std::exchange(senders_[rank]->is_lost, true)) return;
    for (auto each = transfers_.begin(); each != transfers_.end();) {
      Transfer& transfer = *each++;
      if (transfer.rank == rank && transfer.memory != nullptr) end(transfer, OF_COMMUNICATION_ERROR, text);
    }
    options_.lost(options_.context, rank, text);
  }

  void take_events() {
    cn_event event{};
    event.struct_size = sizeof event;
    while (cn_next_event(endpoint_, &event, 0) == CN_OK) {
      ++done_;
      const auto found = ranks_.find(event.peer);
      if (event.kind == CN_EVENT_LEFT && found != ranks_.end())
        lose(found->second.rank, event.error != nullptr ? event.error : "it has left");
    }
  }

  static void take_message(void* user, cn_message* message) {
    auto& self = *static_cast<CommNet*>(user);
    ++self.done_;
    const auto sender = self.ranks_.find(cn_message_peer(message));
    if (sender != self.ranks_.end() && !self.is_closing_)
      self.options_.arrived(self.options_.context, sender->second.rank, cn_message_data(message),
                            cn_message_size(message));
  }

  static void take_taken(void* user, cn_message* message) {
    auto& self = *static_cast<CommNet*>(user);
    ++self.done_;
    if (self.is_closing_ || cn_message_size(message) != CN_TOKEN_SIZE) return;
    for (Transfer& each : self.transfers_) {
      if (each.memory == nullptr || std::memcmp(each.token.bytes, cn_message_data(message), CN_TOKEN_SIZE) != 0)
        continue;
      if (each.staged.memory != nullptr) {
        self.staged_bytes_ -= std::exchange(each.staged.size, 0);
        self.spare_.push_back(std::exchange(each.staged, {}));
        each.memory = nullptr;
      }
      return self.end(each, OF_OK, nullptr);
    }
  }

  const of_communicator_options options_;
  cn_endpoint* endpoint_ = nullptr;
  std::vector<cn_peer*> peers_;  // by rank
  std::unordered_map<cn_peer*, Sender> ranks_;
  std::vector<Sender*> senders_;  // by rank
  std::list<Transfer> transfers_;
  std::vector<Staged> spare_;  // which no rank reads
  size_t staged_count_ = 0, staged_bytes_ = 0;
  uint64_t done_ = 0;  // counts what progress has brought
  unsigned looks_ = 0;
  bool is_closing_ = false;
};

CommNet& of(void* self) { return *static_cast<CommNet*>(self); }

of_status open(const of_communicator_options* options, void** self) {
  try {
    auto opened = std::make_unique<CommNet>(*options);
    if (const of_status status = opened->join()) return status;
    *self = opened.release();
    return OF_OK;
  } catch (const std::bad_alloc&) {
    return options->fail(OF_OUT_OF_MEMORY, "the host is out of memory");
  }
}

constexpr of_communicator_table kTable = {
    .struct_size = sizeof(of_communicator_table),
    .version = OF_COMMUNICATOR_VERSION,
    .name = "commnet",
    .message_limit = 1 << 20,
    .open = open,
    .close = [](void* self) { delete &of(self); },
    .is_bound_to_thread = [](void*) { return false; },
    .offer_from = [](void* self, uint32_t rank) { return of(self).offer_from(rank); },
    .post = [](void* self, uint32_t rank, const void* data, size_t size) { return of(self).post(rank, data, size); },
    .offer = [](void* self, uint32_t rank, const void* data, size_t size, void* transfer,
                of_communicator_key* key) { return of(self).offer(rank, data, size, transfer, key); },
    .fetch = [](void* self, uint32_t rank, const of_communicator_key* key, void* data, size_t size,
                void* transfer) { return of(self).fetch(rank, key, data, size, transfer); },
    .withdraw = [](void* self, void* transfer) { of(self).withdraw(transfer); },
    .progress = [](void* self) { return of(self).progress(); },
    .descriptor = [](void* self) { return of(self).descriptor(); },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const of_communicator_table* oneflow_communicator(void) {
  return &kTable;
}
