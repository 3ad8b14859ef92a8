// A queue that takes memory only while there is something in it: endpoints keep some for each peer that they ever had.
#ifndef COMMNET_CORE_FIFO_H_
#define COMMNET_CORE_FIFO_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace commnet {

template <class Item>
class Fifo {
 public:
  bool empty() const { return first_ == items_.size(); }
  size_t size() const { return items_.size() - first_; }
  Item& front() { return items_[first_]; }
  Item& back() { return items_.back(); }
  auto begin() { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() const { return items_.end(); }

  void push_back(Item item) { items_.push_back(std::move(item)); }
  void pop_back() { items_.pop_back(); }
  void pop_front() {
    items_[first_] = Item();
    ++first_;
    if (empty())
      clear();
    else if (first_ >= kMostGone && first_ * 2 >= items_.size())
      drop_gone();
  }
  template <class Place>
  void erase(Place place) {
    items_.erase(place);
    if (empty()) clear();
  }
  // Gives back the memory of a queue that has become long.
  void clear() {
    items_.clear();
    first_ = 0;
    if (items_.capacity() > kMostKept) items_ = {};
  }

 private:
  static constexpr size_t kMostGone = 32, kMostKept = 64;

  void drop_gone() {
    std::move(begin(), end(), items_.begin());
    items_.resize(size());
    first_ = 0;
  }

  std::vector<Item> items_;
  size_t first_ = 0;
};

}  // namespace commnet

#endif  // COMMNET_CORE_FIFO_H_
