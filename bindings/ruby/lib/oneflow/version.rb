# frozen_string_literal: true

module OneFlow
  VERSION = "0.1.0"
end
