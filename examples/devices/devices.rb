# frozen_string_literal: true

# Lists the devices: name, hardware, memory. The same program stands beside this one in Python and in JavaScript.

require "oneflow"

OneFlow.devices.each do |device|
  puts format("#{device.name}: #{device.hardware}, %.1f GiB", device.total_memory.fdiv(2**30))
end
