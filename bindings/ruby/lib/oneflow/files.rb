# frozen_string_literal: true

# Files of tensors: safetensors, and NumPy's .npy and .npz.
module OneFlow
  # What a file says of a tensor: the dtype (nil if none corresponds to the type), the type as the format spells it, the
  # shape, and the size of the elements in bytes before compression.
  TensorInfo = Struct.new(:dtype, :type, :shape, :bytes)

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
    def read(name, device: nil, mmap: false)
      position = names.index(known(:read, name))
      read_all([position], device, Nodes.flag(:read, :mmap, mmap)).first
    end

    alias [] read

    # Reads all tensors; see OneFlow.load.
    def load(device: nil, mmap: false, flat: false)
      list = nodes(Nodes.flag(:load, :flat, flat))
      positions = list.filter_map { |kind, _, _, position| position if kind == Nodes::TENSOR }
      tensors = read_all(positions, device, Nodes.flag(:load, :mmap, mmap))
      Nodes.restore(list, tensors)
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
    texts = Nodes.optional_hash(:save, :metadata, metadata).flat_map do |key, value|
      [Nodes.text("save: a key of metadata", key), Nodes.text("save: a value of metadata", value)]
    end
    save_file(Nodes.path(:save, path), Nodes.of(:save, "data", data), texts, Nodes.flag(:save, :compress, compress))
  end

  # Loads what `save` has written, or the tensors of a file from elsewhere as a Hash.
  def self.load(path, device: nil, mmap: false, flat: false)
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
