# frozen_string_literal: true

# Shows typical uses of einsum, and checks each result against a second method.
#
# Usage: ruby gallery.rb. This folder has the same program in Python and JavaScript, with the same output.

require "oneflow"

def title(text) = puts("\n#{text}\n\n")

def random(*shapes) = shapes.map { |shape| OneFlow.randn(shape) }

# Prints an equation, what it computes, and a summary of the result.
def show(equation, words, result)
  puts "  #{equation}: #{words}"
  puts format("    shape #{result.shape}, sum %.6f", result.sum.item)
end

# Ends the program if the results differ by more than rounding.
def check(result, other, way)
  difference = ((result - other).abs.max / other.abs.max).item
  abort "differs from #{way} by #{difference} of the largest element" if difference > 1e-9
  puts "    the same as #{way}"
end

def diagonal_and_trace
  title "Diagonal and trace"
  x = OneFlow.arange(9).reshape(3, 3)
  puts "  ii->i: the elements with the same index twice: #{OneFlow.einsum("ii->i", x).to_a}"
  puts "  ii->: their sum: #{OneFlow.einsum("ii->", x).item}"
  batch, = random([4, 2, 3, 3])
  traces = OneFlow.einsum("...ii->...", batch)
  show "...ii->...", "the trace of each matrix of a batch", traces
  check traces, batch.diagonal(dim1: -2, dim2: -1).sum(dim: -1), "diagonal and sum"
end

def matrix_products
  title "Matrix products"
  a, b = random([2, 1, 3, 4], [5, 4, 2])
  product = OneFlow.einsum("...ij,...jk->...ik", a, b)
  show "...ij,...jk->...ik", "batches of any shapes that broadcast", product
  check product, OneFlow.matmul(a, b), "matmul"
  x, y = random([3, 4], [4, 2])
  transposed = OneFlow.einsum(x, [0, 1], y, [1, 2], [2, 0])
  check transposed, OneFlow.matmul(x, y).transpose(0, 1), "matmul, with labels in lists"
end

def forms
  title "Quadratic and bilinear forms"
  matrix, x, y = random([4, 4], [4], [4])
  quadratic = OneFlow.einsum("i,ij,j->", x, matrix, x)
  show "i,ij,j->", "a quadratic form, x A x", quadratic
  check quadratic, OneFlow.dot(x, OneFlow.mv(matrix, x)), "dot and mv"
  bilinear = OneFlow.einsum("i,ij,j->", x, matrix, y)
  show "i,ij,j->", "a bilinear form, x A y", bilinear
  check bilinear, OneFlow.matmul(x, OneFlow.matmul(matrix, y)), "matmul"
end

def bilinear_layer
  title "Bilinear layer"
  weights, left, right = random([3, 4, 5], [6, 4], [6, 5])
  layer = OneFlow.einsum("ni,kij,nj->nk", left, weights, right)
  show "ni,kij,nj->nk", "k bilinear forms for each row n of two matrices", layer
  columns = weights.map { |each| (OneFlow.matmul(left, each) * right).sum(dim: 1) }
  check layer, OneFlow.stack(columns, dim: 1), "matmul, elementwise product and sum"
end

def mahalanobis
  title "Mahalanobis distances"
  points, root = random([100, 3], [3, 3])
  centred = points - points.mean(dim: 0)
  precision = OneFlow.einsum("ki,kj->ij", root, root)
  distances = OneFlow.einsum("ni,ij,nj->n", centred, precision, centred).sqrt
  show "ni,ij,nj->n", "each point's distance from the mean", distances
  check distances, (OneFlow.matmul(centred, root.transpose(0, 1))**2).sum(dim: 1).sqrt, "the lengths of R x"
end

def attend(queries, keys, values)
  scores = OneFlow.einsum("bhqd,bhkd->bhqk", queries, keys) / Math.sqrt(4)
  show "bhqd,bhkd->bhqk", "the score of key position k for query position q, in each head", scores
  check scores, OneFlow.matmul(queries, keys.transpose(-2, -1)) / Math.sqrt(4), "matmul with the keys transposed"
  weights = OneFlow.softmax(scores, dim: -1)
  heads = OneFlow.einsum("bhqk,bhkd->bhqd", weights, values)
  show "bhqk,bhkd->bhqd", "the weighted sums of the values", heads
  check heads, OneFlow.matmul(weights, values), "matmul"
  heads
end

def attention
  title "Multi-head attention"
  x, output, *projections = random([2, 5, 12], [3, 4, 12], *[[12, 3, 4]] * 3)
  heads = attend(*projections.map { |weights| OneFlow.einsum("btc,chd->bhtd", x, weights) })
  result = OneFlow.einsum("bhqd,hdc->bqc", heads, output)
  show "bhqd,hdc->bqc", "the output projection of all heads", result
  joined = heads.transpose(1, 2).reshape(2, 5, 12)
  check result, OneFlow.matmul(joined, output.reshape(12, 12)), "matmul of the concatenated heads"
end

def tucker
  title "Tucker decomposition"
  core, *factors = random([2, 3, 4], [7, 2], [8, 3], [9, 4])
  equation = "abc,ia,jb,kc->ijk"
  result = OneFlow.einsum(equation, core, *factors)
  show equation, "a tensor from a small core and a matrix per dimension", result
  other = factors.reduce(core) { |part, factor| OneFlow.tensordot(part, factor, [0], [1]) }
  check result, other, "tensordot, one dimension at a time"
  path = OneFlow.einsum_path(equation, core, *factors)
  puts "    #{path.flops.to_i} operations in the order that was found, #{path.naive_flops.to_i} all at once"
end

def cp
  title "CP decomposition"
  weights, a, b, c = random([3], [4, 3], [5, 3], [6, 3])
  result = OneFlow.einsum("r,ir,jr,kr->ijk", weights, a, b, c)
  show "r,ir,jr,kr->ijk", "a tensor as a sum of r outer products", result
  products = a.reshape(4, 1, 1, 3) * b.reshape(5, 1, 3) * c
  check result, (products * weights).sum(dim: 3), "broadcast products and sum"
end

SITES = 6
BOND = 3
PHYSICAL = 2

# Returns a matrix product state: a tensor (left bond, physical, right bond) per site, with end bonds of 1.
def random_state
  ends = [1, *[BOND] * (SITES - 1), 1]
  random(*ends.each_cons(2).map { |left, right| [left, PHYSICAL, right] })
end

# Returns the state as one vector.
def whole_state(state) = state.reduce { |part, site| OneFlow.tensordot(part, site, 1) }.flatten

# Returns the equation of the overlap: the states share their physical labels, and each has its own bonds.
def overlap_equation
  physical = "pqrstu"
  terms = %w[abcdefg ABCDEFG].flat_map do |bonds|
    Array.new(SITES) { |i| bonds[i] + physical[i] + bonds[i + 1] }
  end
  "#{terms.join(",")}->"
end

def tensor_network
  title "A tensor network: the overlap of two matrix product states"
  equation = overlap_equation
  x, y = Array.new(2) { random_state }
  overlap = OneFlow.einsum_expression(equation, *x, *y)
  puts overlap.report, ""
  in_order = OneFlow.einsum_path(equation, *x, *y, optimize: "none")
  puts "  from left to right it would take #{in_order.flops.to_i} operations", ""
  result = overlap.call(*x, *y)
  show equation, "the overlap", result
  check result, OneFlow.dot(whole_state(x), whole_state(y)), "dot of the whole states"
  norm = overlap.call(*x, *x)
  show equation, "the same expression again, for the squared norm", norm
  check norm, (whole_state(x)**2).sum, "a sum of squares"
end

def many_labels
  title "More labels than letters"
  steps = Array.new(60) { |site| OneFlow.tensor([[1, site % 3], [0, 1]]) }
  arguments = steps.each_with_index.flat_map { |step, site| [step, [site, site + 1]] }
  result = OneFlow.einsum(*arguments, [0, 60])
  puts "  [0,1],[1,2],...,[59,60]->[0,60]: a product of 60 matrices: #{result.to_a}"
  check result, steps.reduce { |part, step| OneFlow.matmul(part, step) }, "59 times matmul"
end

def main
  OneFlow.default_dtype = :float64
  OneFlow.manual_seed(0)
  puts "einsum: typical uses"
  diagonal_and_trace
  matrix_products
  forms
  bilinear_layer
  mahalanobis
  attention
  tucker
  cp
  tensor_network
  many_labels
end

main
