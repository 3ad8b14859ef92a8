// An equation planned for operands of given shapes: the path, its cost, and a report.
#ifndef ONEFLOW_EINSUM_EXPRESSION_H_
#define ONEFLOW_EINSUM_EXPRESSION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "einsum/path.h"

namespace oneflow::einsum {

// The plan of an equation without tensors, which front ends show to users.
class Expression {
 public:
  struct Options {
    Search search = Search::kAuto;
    double limit = kUnlimited;
    const std::vector<int64_t>* path = nullptr;  // positions (see path.h); NULL: search for a path
  };

  // Throws the errors of equation.h, sizes.h and path.h.
  Expression(std::string_view equation, std::vector<Shape> shapes, const Options& options);

  const std::string& equation() const { return equation_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  const Shape& result() const { return result_; }
  const std::vector<int64_t>& path() const { return path_; }
  double operations() const { return cost_.operations; }
  double operations_at_once() const { return operations_at_once_; }
  // Returns the number of elements of the largest intermediate or result.
  double largest() const { return cost_.largest; }
  // Returns a summary and a table with a line per product.
  const std::string& report() const { return report_; }
  // Returns the bytes that the object takes, including its heap memory.
  size_t memory() const;

 private:
  std::string equation_;
  std::vector<Shape> shapes_;
  Shape result_;
  std::vector<int64_t> path_;  // as positions
  Cost cost_;
  double operations_at_once_ = 0;
  std::string report_;
};

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_EXPRESSION_H_
