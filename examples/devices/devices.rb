# frozen_string_literal: true

# Lists the devices with their name, hardware and memory. This folder has the same program in Python and JavaScript.

require "oneflow"

OneFlow.devices.each do |device|
  puts format("#{device.name}: #{device.hardware}, %.1f GiB", device.total_memory.fdiv(2**30))
end
