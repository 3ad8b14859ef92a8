# frozen_string_literal: true

require "etc"
require "fileutils"

# Builds liboneflow from its sources with CMake.
class Liboneflow
  # What is in its folder for the linker alone: the name without a version, and the file with the whole version.
  FOR_LINKER = /\Aliboneflow\.(?:so|dylib|so\.\d+\..*|\d+\..*\.dylib)\z/

  # `sources` is the folder with its CMakeLists.txt, `folder` the one to install it to.
  def initialize(sources, folder)
    @sources = sources
    @folder = folder
  end

  # Returns the folders of the headers and the libraries.
  def folders = [File.join(@folder, "include"), File.join(@folder, "lib")]

  # Compiles and installs it. Ends the program with a message if that fails.
  def build
    unless find_executable("cmake")
      abort "oneflow-rb needs CMake to compile liboneflow: install it (the package cmake, or its equivalent on your " \
            "system)"
    end
    puts "compiling liboneflow, which takes several minutes"
    configure
    run("--build", build_folder, "--parallel", Etc.nprocessors.to_s)
    run("--install", build_folder, "--prefix", @folder, "--strip")
    FileUtils.rm_rf(build_folder)
  end

  # Adds the rules to a Makefile of mkmf that install what the extension needs at run time next to it.
  def write_rules(makefile)
    names = Dir.children(folders.last).sort.grep_v(FOR_LINKER)
    files = names.map { |name| File.join(folders.last, name) }.select { |file| File.file?(file) }
    files << File.join(@folder, "bin/oneflow-run")
    makefile.puts "install-so: install-liboneflow", "install-liboneflow:",
                  "\t$(MAKEDIRS) $(RUBYARCHDIR)", "\t$(INSTALL_PROG) #{files.join(" ")} $(RUBYARCHDIR)"
  end

  private

  # A folder in that of the sources, so that ccache finds what was compiled in another copy of them.
  def build_folder = File.join(@sources, "build-gem")

  def configure
    generator = find_executable("ninja") ? ["-G", "Ninja"] : []
    run("-S", @sources, "-B", build_folder, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_LIBDIR=lib",
        "-DONEFLOW_BUILD_BINDINGS=OFF", "-DONEFLOW_BUILD_TESTS=OFF")
  end

  def run(*arguments)
    return if system("cmake", *arguments)

    abort "oneflow-rb: liboneflow could not be compiled; the message of `cmake #{arguments.first}` above says why"
  end
end
