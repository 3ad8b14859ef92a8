# frozen_string_literal: true

# What extensions in C++ are compiled with.
module OneFlow
  # Returns the folder of the header files, for the compiler of extensions that are written with <oneflow/ruby.h>; they
  # are linked against the file that `library_path` returns.
  def self.include_dir
    own = File.expand_path("../../include", __dir__)
    return own if File.exist?(File.join(own, "oneflow/oneflow.h"))

    # In a checkout they are beside the extension in the build folder.
    File.join(File.dirname(File.realpath("oneflow.so", __dir__)), "include")
  end
end
