# frozen_string_literal: true

# Files of tensors: safetensors, and NumPy's .npy and .npz.
module OneFlow
  # What a file says of a tensor: the dtype (nil if none corresponds to the type), the type as the format spells it, the
  # shape, and the size of the elements in bytes before compression.
  TensorInfo = Struct.new(:dtype, :type, :shape, :bytes)

  # Converts between nested data and the nodes of the C API: Arrays [kind, count, key, tensor].
  module Nodes
    TENSOR, HASH, ARRAY = *0..2
    MAX_NESTING = 64

    module_function

    # Returns the nodes of nested data, each before its items.
    def of(data)
      nodes = []
      add(nodes, data, nil, 0)
      nodes
    end

    # Returns [key, value] of the next node.
    def restore(nodes, tensors)
      kind, count, key = nodes.next
      case kind
      when TENSOR then [key, tensors.next]
      when HASH then [key, Array.new(count) { restore(nodes, tensors) }.to_h]
      else [key, Array.new(count) { restore(nodes, tensors).last }]
      end
    end

    # Returns a string for the C API, in UTF-8. `what` begins error texts.
    def text(what, value)
      text = Symbol === value ? value.name : value
      raise TypeMismatch, "#{what} must be String or Symbol, got #{Autograd.class_of(value)}" unless String === text
      raise InvalidArgument, "#{what} must be a valid String" unless text.valid_encoding?
      raise InvalidArgument, "#{what} must not have a null byte" if text.include?("\0")

      text.encode(Encoding::UTF_8).freeze
    rescue EncodingError
      raise InvalidArgument, "#{what} must be convertible to UTF-8"
    end

    # Returns a path as a String.
    def path(function, value)
      path = Object === value && value.respond_to?(:to_path) ? value.to_path : value
      unless String === path
        raise TypeMismatch, "#{function}: path must be String or Pathname, got #{Autograd.class_of(value)}"
      end
      raise InvalidArgument, "#{function}: path must not have a null byte" if path.b.include?("\0")

      path.dup.freeze
    end

    def flag(function, name, value)
      return value if [true, false].include?(value)

      raise TypeMismatch, "#{function}: #{name} must be bool, got #{Autograd.class_of(value)}"
    end

    def add(nodes, value, key, depth)
      case value
      when Tensor then nodes << [TENSOR, 0, key, value]
      when Hash
        start(nodes, HASH, value, key, depth)
        value.each { |name, item| add(nodes, item, text("save: a key", name), depth + 1) }
      when Array
        start(nodes, ARRAY, value, key, depth)
        value.each { |item| add(nodes, item, nil, depth + 1) }
      else raise TypeMismatch, wrong_item(value, depth)
      end
    end

    def start(nodes, kind, value, key, depth)
      raise InvalidArgument, "save: data must not be nested more than #{MAX_NESTING} deep" if depth == MAX_NESTING

      nodes << [kind, value.size, key, nil]
    end

    def wrong_item(value, depth)
      what = depth.zero? ? "data" : "an item of data"
      "save: #{what} must be Tensor, Hash or Array, got #{Autograd.class_of(value)}"
    end

    private_class_method :add, :start, :wrong_item
  end
  private_constant :Nodes

  # A file of tensors that is open for reading; see OneFlow.open_file. Tensors that were read stay valid after it was
  # closed.
  class TensorFile
    # Returns the names of the tensors, in the order of the file.
    def names = infos.keys

    # Returns what the file says of a tensor.
    def info(name) = infos.fetch(known(:info, name)).dup

    # Returns whether there is a tensor with this name.
    def include?(name) = infos.include?(name.to_s)

    # Reads one tensor; see OneFlow.load for the arguments.
    def read(name, device: nil, mmap: true)
      position = names.index(known(:read, name))
      read_all([position], device, !Nodes.flag(:read, :mmap, mmap)).first
    end

    alias [] read

    # Reads all tensors; see OneFlow.load.
    def load(device: nil, mmap: true, flat: false)
      list = nodes(Nodes.flag(:load, :flat, flat))
      positions = list.filter_map { |kind, _, _, position| position if kind == Nodes::TENSOR }
      tensors = read_all(positions, device, !Nodes.flag(:load, :mmap, mmap))
      Nodes.restore(list.each, tensors.each).last
    end

    # Returns `#<OneFlow::TensorFile of 3 tensors>`.
    def inspect = "#<#{self.class} #{closed? ? "(closed)" : "of #{names.size} tensors"}>"

    private

    def infos
      raise InvalidArgument, "the file is closed" if closed?

      @infos ||= entries.to_h { |name, *info| [name, TensorInfo.new(*info)] }
    end

    def known(function, name)
      text = Nodes.text("#{function}: name", name)
      raise InvalidArgument, "#{function}: there is no tensor #{text.inspect}" unless infos.include?(text)

      text
    end
  end

  # Saves a tensor, or nested Hashes and Arrays of tensors, to a file. The format follows from the end of the path:
  # `.safetensors`, `.npz`, or `.npy` for one tensor.
  def self.save(data, path, metadata: nil, compress: false)
    unless metadata.nil? || metadata.is_a?(Hash)
      raise TypeMismatch, "save: metadata must be Hash or nil, got #{Autograd.class_of(metadata)}"
    end

    pairs = (metadata || {}).map do |key, value|
      [Nodes.text("save: a key of metadata", key), Nodes.text("save: a value of metadata", value)]
    end
    save_file(Nodes.path(:save, path), Nodes.of(data), pairs, Nodes.flag(:save, :compress, compress))
  end

  # Loads what `save` has written, or the tensors of a file from elsewhere as a Hash.
  def self.load(path, device: nil, mmap: true, flat: false)
    file = TensorFile.__send__(:open, Nodes.path(:load, path))
    begin
      file.load(device:, mmap:, flat:)
    ensure
      file.close
    end
  end

  # Opens a file of tensors, and reads their names, dtypes and shapes, but not their elements. With a block, returns its
  # result, and closes the file.
  def self.open_file(path)
    file = TensorFile.__send__(:open, Nodes.path(:open_file, path))
    return file unless block_given?

    begin
      yield file
    ensure
      file.close
    end
  end
end
