"""Lists the devices with their name, hardware and memory. This folder has the same program in JavaScript and Ruby."""

import oneflow_py as flow

for device in flow.devices():
    print(f"{device.name}: {device.hardware}, {device.total_memory / 2**30:.1f} GiB")
