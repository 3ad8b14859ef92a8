# frozen_string_literal: true

require "oneflow" # loads liboneflow, which the extension uses
require "flow_extras/native"
