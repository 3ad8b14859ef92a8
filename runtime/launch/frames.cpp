#include "launch/frames.h"

#include <cstring>

#include "launch/failure.h"

namespace oneflow::launch {

namespace {

// A header: the kind, the number and the length, least significant byte first, as hosts may differ.
constexpr size_t kHeader = 9;
constexpr uint32_t kLongest = 1 << 28;

void put(std::string& text, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(number >> shift & 255);
}

uint32_t get(const char* bytes) {
  uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

std::string encode(Frame::Kind kind, int32_t number, std::string_view content) {
  std::string text(1, static_cast<char>(kind));
  put(text, static_cast<uint32_t>(number));
  put(text, static_cast<uint32_t>(content.size()));
  text += content;
  return text;
}

std::optional<Frame> FrameReader::next() {
  const size_t available = bytes_.size() - read_;
  const char* const begin = bytes_.data() + read_;
  if (available >= kHeader) {
    const auto kind = static_cast<Frame::Kind>(*begin);
    const uint32_t length = get(begin + 5);
    if (kind < Frame::plan || kind > Frame::wants_input || length > kLongest)
      throw Failure("what arrived through the remote shell was not sent by oneflow-run");
    if (available - kHeader >= length) {
      read_ += kHeader + length;
      return Frame{kind, static_cast<int32_t>(get(begin + 1)), std::string(begin + kHeader, length)};
    }
  }
  bytes_.erase(0, read_);
  read_ = 0;
  return {};
}

}  // namespace oneflow::launch
