# frozen_string_literal: true

module OneFlow
  # What Ruby has of its own for files of tensors.
  class TensorFile
    # Returns `#<OneFlow::TensorFile of 3 tensors>`.
    def inspect = "#<#{self.class} #{closed? ? "(closed)" : "of #{size} tensors"}>"
  end
end
