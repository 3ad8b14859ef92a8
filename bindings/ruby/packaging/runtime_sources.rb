# frozen_string_literal: true

# The sources of liboneflow, generated ones included, and of the communication library, without tests, and without the
# device plugins, which are projects of their own.
module RuntimeSources
  PATTERN = "{CMakeLists.txt,cmake/*,runtime/**/*.{c,cpp,h,hpp,map,txt}," \
            "commnet/{CMakeLists.txt,LICENSE,cmake/*.*,include/**/*.*,src/**/*.*}}"
  TEST = %r{/tests/|_test\.cpp\z|/test_\w+\.cpp\z}

  # Returns the paths of the files in the repository.
  def self.files(root)
    plugins = Dir.glob("runtime/devices/*/device.mk", base: root).map { |file| "#{File.dirname(file)}/" }
    Dir.glob(PATTERN, base: root).reject { |file| file.match?(TEST) || file.start_with?(*plugins) }
  end
end
