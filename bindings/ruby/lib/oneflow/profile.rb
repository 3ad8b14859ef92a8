# frozen_string_literal: true

module OneFlow
  # What Ruby has of its own for profiles.
  class Profile
    # Writes the trace to a file.
    def save(path)
      File.write(path, trace)
      nil
    end

    # Returns `#<OneFlow::Profile of 12 calls>`.
    def inspect = "#<#{self.class} of #{entries.size} calls>"
  end
end
