#include "transports/ucx/links.h"

#include <utility>

#include "core/status.h"

namespace commnet::ucx {

namespace {

// How many links one side may be ahead of the other: those of connections that ended while they began.
constexpr uint32_t kMostSkipped = 64;

}  // namespace

uint32_t Links::usable(const std::string& address) const {
  const auto other = others_.find(address);
  const Link* const last = other == others_.end() ? nullptr : other->second.last;
  return last && last->is_usable() ? last->number : kNoLink;
}

uint32_t Links::next(const std::string& address) const {
  const auto other = others_.find(address);
  return other == others_.end() ? 0 : other->second.next;
}

Link& Links::use(const std::string& address, uint32_t number, Connection& user) {
  Other& other = others_[address];
  Link* link = other.last;
  if (!link || link->number != number || !link->is_usable()) {
    if (number < other.next || number - other.next > kMostSkipped) fail(CN_UNREACHABLE, "the link was closed");
    // The other side has made these, and closed them.
    while (other.next < number) close(make(address, other));
    link = &make(address, other);
  }
  try {
    link->users.push_back(&user);
  } catch (...) {
    if (link->users.empty()) close(*link);
    throw;
  }
  return *link;
}

Link& Links::make(const std::string& address, Other& other) {
  Link& link = links_.emplace_back(*this, other, other.next);
  ucp_ep_params_t parameters{};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler.arg = &link;
  parameters.err_handler.cb = [](void* own, ucp_ep_h, ucs_status_t status) {
    auto& failed = *static_cast<Link*>(own);
    failed.has_failed = true;
    failed.owner.tell(failed, failed.owner.ucp_.ucs_status_string(status));
  };
  ++other.next;
  if (const ucs_status_t status = ucp_.ucp_ep_create(worker_, &parameters, &link.endpoint); status != UCS_OK) {
    links_.pop_back();
    fail(CN_UNREACHABLE, "%s", ucp_.ucs_status_string(status));
  }
  other.last = &link;
  connect(link);
  return link;
}

// An endpoint without anything to send is flushed when it is connected.
void Links::connect(Link& link) {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.user_data = &link;
  parameters.cb.send = [](void* request, ucs_status_t status, void* own) {
    auto& flushed = *static_cast<Link*>(own);
    flushed.is_connecting = false;
    flushed.is_connected = status == UCS_OK;
    flushed.owner.ucp_.ucp_request_free(request);
    if (status == UCS_OK) flushed.owner.tell(flushed, nullptr);
  };
  void* const request = ucp_.ucp_ep_flush_nbx(link.endpoint, &parameters);
  link.is_connecting = UCS_PTR_IS_PTR(request);
  link.is_connected = !request;
}

void Links::tell(const Link& link, const char* failure) const {
  for (Connection* const user : link.users) told_(*user, failure);
}

bool Links::reaches_memory(Link& link, AccessRule rule) const {
  if (rule == AccessRule::kAlways) return true;
  if (link.reaches_memory < 0 && link.is_usable())
    link.reaches_memory =
        names_hardware(printed([&](std::FILE* file) { ucp_.ucp_ep_print_info(link.endpoint, file); }));
  return link.reaches_memory > 0;
}

void Links::leave(Link& link, Connection& user) noexcept {
  std::erase(link.users, &user);
  if (link.users.empty()) close(link);
}

void Links::close(Link& link) noexcept {
  if (!link.endpoint) return;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
  parameters.user_data = &link;
  parameters.cb.send = [](void* request, ucs_status_t, void* own) {
    auto& closed = *static_cast<Link*>(own);
    closed.is_closing = false;
    closed.owner.ucp_.ucp_request_free(request);
  };
  link.is_closing = true;
  ++closed_;
  void* const request = ucp_.ucp_ep_close_nbx(std::exchange(link.endpoint, nullptr), &parameters);
  if (!UCS_PTR_IS_PTR(request)) link.is_closing = false;
  tell(link, ucp_.ucs_status_string(UCS_ERR_CANCELED));
}

bool Links::clean() noexcept {
  if (closed_ == 0) return links_.empty();
  std::erase_if(links_, [&](const Link& link) {
    if (link.endpoint || link.is_closing || link.is_connecting || !link.users.empty()) return false;
    if (link.other.last == &link) link.other.last = nullptr;
    --closed_;
    return true;
  });
  return links_.empty();
}

}  // namespace commnet::ucx
