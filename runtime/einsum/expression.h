// An equation worked out for operands of given shapes: in which order they are multiplied, and what that costs.
#ifndef ONEFLOW_EINSUM_EXPRESSION_H_
#define ONEFLOW_EINSUM_EXPRESSION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "einsum/path.h"

namespace oneflow::einsum {

class Expression {
 public:
  struct Options {
    Search search = Search::kAuto;
    double limit = kUnlimited;
    const std::vector<int64_t>* path = nullptr;  // positions, as in path.h; NULL: find one
  };

  // Errors of equation.h, sizes.h and path.h.
  Expression(std::string_view equation, std::vector<Shape> shapes, const Options& options);

  const std::string& equation() const { return equation_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  const Shape& result() const { return result_; }
  const std::vector<int64_t>& path() const { return path_; }
  double operations() const { return cost_.operations; }
  double operations_at_once() const { return operations_at_once_; }
  double largest() const { return cost_.largest; }  // elements of the largest intermediate, or of the result
  // A table of the products, one in a line.
  const std::string& report() const { return report_; }
  size_t memory() const;  // bytes, the object's own included

 private:
  std::string equation_;
  std::vector<Shape> shapes_;
  Shape result_;
  std::vector<int64_t> path_;  // positions
  Cost cost_;
  double operations_at_once_ = 0;
  std::string report_;
};

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_EXPRESSION_H_
