# frozen_string_literal: true

# Builds both gems, installs each into an empty folder, and runs a program that has only that gem:
# `ruby test/package.rb BUILD`, where BUILD is CMake's build folder.

require "fileutils"
require "tmpdir"

PROGRAM = <<~'RUBY'
  require "commnet"
  Commnet::Endpoint.open(name: "a", secret: "s") do |a|
    Commnet::Endpoint.open(name: "b", secret: "s") do |b|
      raise "wrong bytes" unless a.connect(b.address).read(b.register("works").token).wait == "works"
    end
  end
  maps = File.read("/proc/self/maps")
  library = maps[/\S*libcommnet\S*/]
  raise "loaded #{library}" unless library.start_with?(ARGV[0])
  raise "libsodium was loaded" if ARGV[1] == "alone" && maps.include?("libsodium")
  puts "#{Gem.loaded_specs["commnet"].full_name} works"
RUBY

def run(*command, **options)
  environment = ENV.to_h.transform_values { |_| nil }.slice("RUBYLIB", "RUBYOPT", "BUNDLE_GEMFILE")
  system(environment, *command, exception: true, **options)
end

# Installs a gem into an empty folder and runs the program there. `from` is where the library must come from.
def try(gem, folder, from: folder, alone: "alone", options: [])
  home = { "GEM_HOME" => folder, "GEM_PATH" => folder }
  system(home, "gem", "install", "--local", "--no-document", gem, *options, exception: true, out: File::NULL)
  run("env", "GEM_HOME=#{folder}", "GEM_PATH=#{folder}", RbConfig.ruby, "-e", PROGRAM, from, alone, chdir: folder)
end

unless system("gem", "--version", out: File::NULL, err: File::NULL)
  puts "skipped: there is no program gem"
  exit 77
end

build = File.expand_path(ARGV.fetch(0))
Dir.mktmpdir do |scratch|
  run(RbConfig.ruby, File.expand_path("../package.rb", __dir__), build, scratch)
  source, platform = Dir[File.join(scratch, "*.gem")].minmax_by { |file| File.basename(file).size }
  try(platform, FileUtils.mkdir_p(File.join(scratch, "platform")).first)
  prefix = File.join(scratch, "prefix")
  run("cmake", "--install", build, "--prefix", prefix, out: File::NULL)
  try(source, FileUtils.mkdir_p(File.join(scratch, "source")).first,
      from: prefix, alone: "with libsodium", options: ["--", "--with-commnet-dir=#{prefix}"])
end
