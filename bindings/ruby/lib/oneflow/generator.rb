# frozen_string_literal: true

module OneFlow
  # A generator of random numbers: a position in the sequence of a seed, which calls with `generator:` move forward.
  class Generator
    alias marshal_dump state
    alias marshal_load state=

    # Writes the generator to a YAML coder.
    def encode_with(coder)
      coder["state"] = state
    end

    # Sets the state from a YAML coder.
    def init_with(coder)
      self.state = coder["state"]
    end

    # Returns `#<OneFlow::Generator seed 7, offset 100>`.
    def inspect
      seed, offset = state
      "#<#{self.class} seed #{seed}, offset #{offset}>"
    end
    alias to_s inspect
  end
end
