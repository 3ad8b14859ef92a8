"""Lists the devices: name, hardware, memory. The same program stands beside this one in JavaScript and in Ruby."""

import oneflow_py as flow

for device in flow.devices():
    print(f"{device.name}: {device.hardware}, {device.total_memory / 2**30:.1f} GiB")
