# frozen_string_literal: true

# Profiles of the calls of operators.
module OneFlow
  # What the calls of operators in a block took; see OneFlow.profile.
  class Profile
    # Writes the trace to a file.
    def save(path) = File.write(path, trace)

    # Returns the table.
    def to_s = table

    # Returns `#<OneFlow::Profile of 12 calls>`.
    def inspect = "#<#{self.class} of #{entries.size} calls>"
  end

  # Records what the calls of operators in a block take, and returns the Profile, which the block also gets. An error of
  # the block is raised rather than one of the devices' work.
  def self.profile
    raise TypeMismatch, "profile: missing block" unless block_given?

    profile = Profile.__send__(:begin)
    is_complete = false
    begin
      yield profile
      is_complete = true
    ensure
      begin
        profile.__send__(:end)
      rescue Error
        raise if is_complete
      end
    end
    profile
  end
end
