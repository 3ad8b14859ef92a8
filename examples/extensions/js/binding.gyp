{
  "targets": [
    {
      "target_name": "extras",
      "sources": ["src/module.cpp"],
      "include_dirs": [
        "<!(node -p \"require('node-addon-api').include_dir\")",
        "<!(node -p \"require('oneflow-js').include\")"
      ],
      "libraries": ["<!(node -p \"require('oneflow-js').library\")"],
      "defines": ["NAPI_VERSION=8", "NODE_ADDON_API_CPP_EXCEPTIONS"],
      "cflags_cc": ["-std=c++20", "-fexceptions"],
      "cflags_cc!": ["-fno-exceptions"],
      "ldflags": ["-Wl,-z,now,-z,nodelete"]
    }
  ]
}
