# frozen_string_literal: true

# What `Bundler.require` loads for the gem, whose name is not that of the library.
require "oneflow"
