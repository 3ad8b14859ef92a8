# frozen_string_literal: true

module Commnet
  VERSION = "0.1.0"
end
