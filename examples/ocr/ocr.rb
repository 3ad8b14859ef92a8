# frozen_string_literal: true

# Reads the text of a picture: finds lines of text, turns those that are upside down, and reads each.
#
# Usage: ruby ocr.rb FOLDER PICTURE. FOLDER has what convert.py writes; PICTURE is a bitmap (PBM, P4), whose sizes are
# multiples of 32. This folder has the same program in Python, JavaScript and C++.

require "oneflow"

HEIGHT = 48
TURNER_WIDTH = 192

# Returns a picture of shape (1, 3, height, width), with 1 for white and -1 for black.
def read_bitmap(path)
  _, sizes, bits = File.binread(path).split("\n", 3)
  width, height = sizes.split.map(&:to_i)
  pixels = bits.unpack1("B*").each_char.map { |bit| bit == "1" ? -1.0 : 1.0 }
  OneFlow.tensor(pixels).reshape(1, 1, height, width).expand(1, 3, height, width)
end

# Removes a connected part of a mask, and returns its box [left, top, right, bottom].
def take_component(rows, column, row)
  found = []
  waiting = [[column, row]]
  until waiting.empty?
    x, y = waiting.pop
    next unless x >= 0 && y >= 0 && rows.dig(y, x)

    rows[y][x] = false
    found << [x, y]
    waiting.push([x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1])
  end
  columns, lines = found.transpose
  [columns.min, lines.min, columns.max + 1, lines.max + 1]
end

# Returns the boxes of the lines of text. The detector marks their middles, so that boxes grow.
def find_lines(detector, picture)
  marks = detector.call(picture)[0, 0]
  rows = (marks > 0.3).to_a
  boxes = rows.each_with_index.flat_map do |row, y|
    row.each_index.filter_map { |x| take_component(rows, x, y) if row[x] }
  end
  boxes.filter_map { |box| grow(box, *picture.shape.last(2)) if text?(marks, box) }
end

def text?(marks, box)
  left, top, right, bottom = box
  [right - left, bottom - top].min >= 3 && marks[top...bottom, left...right].mean.item >= 0.5
end

def grow(box, height, width)
  left, top, right, bottom = box
  columns = right - left
  rows = bottom - top
  margin = 4 * columns * rows / (5 * (columns + rows))
  [[left - margin, 0].max, [top - margin, 0].max, [right + margin, width].min, [bottom + margin, height].min]
end

# Returns the width of a line that is scaled to HEIGHT.
def width_of(line) = -(-HEIGHT * line.shape[3] / line.shape[2])

# Returns whether a line is turned by 180 degrees.
def upside_down?(turner, line)
  width = [width_of(line), TURNER_WIDTH].min
  strip = OneFlow.interpolate(line, size: [HEIGHT, width], mode: "bilinear")
  turner.call(OneFlow.pad(strip, [0, TURNER_WIDTH - width]))[0, 1].item > 0.9
end

# Returns the text of a line: at each position the most probable character, or none.
def read_line(reader, characters, line)
  strip = OneFlow.interpolate(line, size: [HEIGHT, width_of(line)], mode: "bilinear")
  best = reader.call(strip)[0].argmax(dim: 1).to_a
  best.chunk_while { |before, now| before == now }.map(&:first).reject(&:zero?).map { |i| characters[i - 1] }.join
end

folder, path = ARGV
detector, turner, reader = %w[detector turner reader].map { |name| OneFlow::Graph.load("#{folder}/#{name}.flow") }
characters = File.readlines("#{folder}/characters.txt", chomp: true, encoding: "UTF-8")
picture = read_bitmap(path)
find_lines(detector, picture).each do |left, top, right, bottom|
  line = picture[:all, :all, top...bottom, left...right]
  line = line.flip([2, 3]) if upside_down?(turner, line)
  puts "#{left},#{top} #{right},#{bottom} #{read_line(reader, characters, line)}"
end
