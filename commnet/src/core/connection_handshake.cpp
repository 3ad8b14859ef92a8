// The handshake of connections.
#include <cstring>

#include "core/connection.h"
#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

constexpr size_t kLongestName = 255;

template <class Head>
std::vector<uint8_t> join(const Head& head, std::string_view text) {
  std::vector<uint8_t> bytes(sizeof head + text.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, text.data(), text.size());
  return bytes;
}

template <class Head>
Head split(const std::vector<uint8_t>& bytes, std::string& text) {
  if (bytes.size() < sizeof(Head)) fail(CN_DENIED, "the other side sent a handshake that is too short");
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  text.assign(bytes.begin() + sizeof head, bytes.end());
  return head;
}

void check_name(const std::string& name) {
  if (name.empty() || name.size() > kLongestName || name.find('\0') != std::string::npos)
    fail(CN_DENIED, "the other side has a name that is not valid");
}

constexpr const char* kOtherSecret = "the other side has another secret";
constexpr std::string_view kConnector = "connects", kAcceptor = "accepts";

}  // namespace

void Connection::connected() noexcept {
  if (is_closed()) return;
  try {
    const Settings& settings = endpoint_.settings();
    Hello hello{kProtocolVersion, stream_, settings.receive_window, settings.message_limit, {}, link_};
    fill_randomly(hello.nonce);
    hello_ = join(hello, settings.name);
    state_ = State::kHello;
    send({.type = FrameType::kHello}, hello_.data(), hello_.size());
    flush();
  } catch (...) {
    return close(set_error_of_exception(), cn_error());
  }
  if (has_failed()) close_failed();
}

void Connection::take_handshake() {
  const auto is = [&](FrameType type, State state, bool has_begun) {
    return frame_.type == type && state_ == state && has_begun_ == has_begun;
  };
  if (is(FrameType::kHello, State::kHello, false)) return take_hello();
  if (is(FrameType::kChallenge, State::kHello, true)) return take_challenge();
  if (is(FrameType::kProof, State::kChallenged, false)) return take_proof();
  if (is(FrameType::kWelcome, State::kProven, true)) return take_welcome();
  fail(CN_DENIED, "the other side does not follow the handshake");
}

void Connection::take_hello() {
  const Hello hello = split<Hello>(control_, other_name_);
  if (hello.version != kProtocolVersion)
    fail(CN_UNSUPPORTED, "the other side has version %u of the protocol, this one has %u", hello.version,
         kProtocolVersion);
  check_name(other_name_);
  hello_ = control_;
  stream_ = hello.stream;
  link_ = hello.link;
  other_window_ = hello.window;
  other_limit_ = hello.message_limit;
  Challenge challenge{};
  fill_randomly(challenge.nonce);
  challenge_ = join(challenge, endpoint_.settings().name);
  state_ = State::kChallenged;
  send({.type = FrameType::kChallenge}, challenge_.data(), challenge_.size());
  flush();
}

void Connection::take_challenge() {
  split<Challenge>(control_, other_name_);
  check_name(other_name_);
  challenge_ = control_;
  if (operation_ && !operation_->expected_name.empty() && operation_->expected_name != other_name_)
    fail(CN_UNREACHABLE, "the endpoint at '%s' is '%s', not '%s'", url_.c_str(), other_name_.c_str(),
         operation_->expected_name.c_str());
  // The other side has connected meanwhile. A proof would have it accept this connection, too, see decide().
  if (const Peer* const peer = endpoint_.known_peer(other_name_); operation_ && peer && peer->is_connected()) {
    operation_->peer = endpoint_.known_peer(other_name_);
    return close(CN_OK, "");
  }
  const Proof own = prove(endpoint_.settings().key, kConnector, {hello_, challenge_});
  state_ = State::kProven;
  send({.type = FrameType::kProof}, own.data(), own.size());
  flush();
}

void Connection::take_proof() {
  if (!are_same(control_, prove(endpoint_.settings().key, kConnector, {hello_, challenge_})))
    return welcome(CN_DENIED, kOtherSecret);
  knows_secret_ = true;
  if (other_name_ == endpoint_.settings().name)
    return welcome(CN_INVALID_ARGUMENT, "an endpoint cannot connect to another one of the same name");
  Peer& peer = endpoint_.peer_of(other_name_);
  if (stream_ > 0) {
    if (!peer.is_connected() || !are_same(peer.link(), link_))
      return welcome(CN_DENIED, "no connection has this identity");
    if (!peer.has_room()) return welcome(CN_DENIED, "there are too many connections already");
    welcome(CN_OK, {});
    peer_ = &peer;
    state_ = State::kOpen;
    return peer.add(*this);
  }
  decide();
}

// If both connect at the same time, each may have proved itself to the other one: the connection of the endpoint with
// the smaller name is kept then. One over which nothing is proved yet is in nobody's way: who has accepted another one
// meanwhile does not prove anything over it.
void Connection::decide() {
  Peer& peer = endpoint_.peer_of(other_name_);
  if (peer.is_connected()) return welcome(CN_FULL, "the endpoints are connected already");
  if (endpoint_.settings().name < other_name_ && endpoint_.has_proved_to(other_name_))
    return welcome(CN_FULL, "the endpoints are connecting already", true);
  if (endpoint_.holds_too_much())
    return welcome(CN_UNREACHABLE, "messages of peers that have left wait for cn_next_event() there");
  fill_randomly(link_);
  welcome(CN_OK, {});
  open(peer);
}

void Connection::welcome(cn_status status, const std::string& text, bool is_coming) {
  const Settings& settings = endpoint_.settings();
  Welcome welcome{status, is_coming, settings.receive_window, settings.message_limit, link_, {}};
  // Who does not know the secret gets nothing by which to find it.
  if (knows_secret_) welcome.proof = prove(settings.key, kAcceptor, {hello_, challenge_, join(welcome, text)});
  const std::vector<uint8_t> payload = join(welcome, text);
  send({.type = FrameType::kWelcome}, payload.data(), payload.size());
  flush();
  if (status != CN_OK) close(status, text.c_str());
}

void Connection::take_welcome() {
  std::string text;
  Welcome welcome = split<Welcome>(control_, text);
  const Proof proof = std::exchange(welcome.proof, Proof{});
  if (!are_same(proof, prove(endpoint_.settings().key, kAcceptor, {hello_, challenge_, join(welcome, text)})))
    fail(CN_DENIED, "%s", kOtherSecret);
  if (welcome.status > CN_INTERNAL_ERROR) fail(CN_DENIED, "the other side sent a status that there is not");
  const auto status = static_cast<cn_status>(welcome.status);
  if (status == CN_FULL) {
    // The other side has begun a connection, too, or there is one: the operation ends with that.
    Peer& peer = endpoint_.peer_of(other_name_);
    if (const OperationPointer operation = operation_) {
      operation->peer = &peer;
      if (peer.is_connected()) {
        endpoint_.finish(operation, CN_OK, {});
      } else {
        // The other side may still have an earlier connection, which it will find broken.
        operation->why = welcome.is_coming != 0 ? "'" + other_name_ + "' connects itself, without success"
                                                : "'" + other_name_ + "' has not lost an earlier endpoint of this name";
        operation->addresses.emplace_front(transport_, url_);
        endpoint_.await(peer, operation);
      }
      operation_ = nullptr;
    }
    return close(CN_OK, "");
  }
  if (status != CN_OK) fail(status, "the other side refuses: %s", text.c_str());
  other_window_ = welcome.window;
  other_limit_ = welcome.message_limit;
  Peer& peer = endpoint_.peer_of(other_name_);
  if (stream_ > 0) {
    if (!peer.is_connected() || !are_same(peer.link(), link_) || !peer.has_room()) return close(CN_OK, "");
    peer_ = &peer;
    state_ = State::kOpen;
    return peer.add(*this);
  }
  if (peer.is_connected()) {
    if (operation_) operation_->peer = &peer;
    return close(CN_OK, "");
  }
  link_ = welcome.link;
  open(peer);
}

void Connection::open(Peer& peer) {
  peer_ = &peer;
  state_ = State::kOpen;
  peer.join(*this, link_, other_window_, other_limit_);
  if (const OperationPointer operation = std::exchange(operation_, nullptr)) {
    operation->peer = &peer;
    endpoint_.finish(operation, CN_OK, {});
    endpoint_.add_streams(peer, *this);
  }
  endpoint_.joined(peer);
  peer.ask_more();  // for those that have waited for the connection
}

}  // namespace commnet
