# frozen_string_literal: true

require_relative "installed_gems"

# Tests what a program is told whose installation is damaged, or for another system.
class LoadErrorsTest < GemsTest
  PROGRAM = 'begin; require "oneflow"; puts "loaded"; rescue LoadError => e; puts e.message; end'
  THIS_RUBY = "ruby #{RUBY_VERSION} (#{RUBY_PLATFORM})".freeze
  OWN = RUBY_VERSION[/\d+\.\d+/]
  CANNOT = "oneflow-rb cannot be loaded by #{THIS_RUBY}: ".freeze
  DAMAGED = "#{CANNOT}a file is missing or damaged; install it again: gem install oneflow-rb --force".freeze
  BUILD_IT = "build it on this machine: gem install oneflow-rb --platform ruby"
  TOGETHER = "install the same version of all packages of oneflow that are loaded together"

  # Yields the folder of the library and a lambda that runs the program with a fresh installation.
  def with_installation
    install(gem_file) do |home|
      folder = File.join(folder_of(home), "lib/oneflow")
      assert_equal "loaded\n", run_installed(home, PROGRAM)
      run = ->(*options, **variables) { run_installed(home, PROGRAM, *options, **variables).lines(chomp: true) }
      yield folder, run
    end
  end

  # Replaces a string in a binary file.
  def patch(file, from, to)
    data = File.binread(file)
    assert data.gsub!("#{from}\0".b, "#{to}\0".b), "#{from} is not in #{file}"
    File.binwrite(file, data)
  end

  def test_damaged_libraries
    with_installation do |folder, run|
      %W[liboneflow.so.0 #{OWN}/oneflow.so].each do |name|
        file = File.join(folder, name)
        whole = File.binread(file)
        sizes = { 0 => "too short", 100 => "truncated", 5000 => "truncated", whole.size - 1 => "truncated" }
        sizes.each do |size, word|
          File.binwrite(file, whole[0, size])
          first, cause = run.call
          assert_equal DAMAGED, first
          assert_match(/#{Regexp.escape(name)}.*#{word}/, cause)
        end
        File.binwrite(file, "<html>" * 100)
        assert_equal DAMAGED, run.call[0]
        assert_match(/invalid ELF header/, run.call[1])
        File.binwrite(file, whole)
      end
    end
  end

  def test_missing_files
    with_installation do |folder, run|
      File.delete(File.join(folder, "liboneflow.so.0"))
      first, cause = run.call
      assert_equal DAMAGED, first
      assert_match(/liboneflow\.so\.0: cannot open/, cause)
      FileUtils.rm_r(Dir[File.join(folder, "3.*")])
      assert_equal "#{CANNOT}its extension is missing; install it again: gem install oneflow-rb --force", run.call[0]
    end
  end

  def test_other_versions_of_ruby
    with_installation do |folder, run|
      FileUtils.rm_r(Dir[File.join(folder, "3.*")])
      %w[3.0 4.7].each do |version|
        FileUtils.mkdir_p(File.join(folder, version))
        File.write(File.join(folder, version, "oneflow.so"), "")
      end
      assert_equal "oneflow-rb has binaries for Ruby 3.0, 4.7, but this is #{THIS_RUBY}; #{BUILD_IT}", run.call[0]
    end
  end

  def test_an_older_c_library
    with_installation do |folder, run|
      patch(File.join(folder, OWN, "oneflow.so"), "GLIBC_2.14", "GLIBC_2.99")
      own = Etc.confstr(Etc::CS_GNU_LIBC_VERSION)
      first, cause = run.call
      assert_equal "#{CANNOT}its binaries need glibc 2.99 or later, but this system has #{own}; #{BUILD_IT}", first
      assert_match(/GLIBC_2\.99/, cause)
    end
  end

  def test_another_c_library
    with_installation do |folder, run|
      File.delete(File.join(folder, "liboneflow.so.0"))
      musl = File.join(folder, "musl.rb")
      File.write(musl, 'RbConfig::CONFIG["host_os"] = "linux-musl"')
      first, = run.call("-rrbconfig", "-r", musl)
      assert_equal "#{CANNOT}its binaries need glibc, but this system has musl; #{BUILD_IT}", first
    end
  end

  def test_another_version_of_the_library_in_the_process
    with_installation do |folder, run|
      other = File.join(folder, "other/liboneflow.so.0")
      FileUtils.mkdir_p(File.dirname(other))
      FileUtils.cp(File.join(folder, "liboneflow.so.0"), other)
      version = "9" * OneFlow::VERSION.size
      patch(other, "\0#{OneFlow::VERSION}", "\0#{version}")
      assert_equal ["oneflow-rb #{OneFlow::VERSION} cannot use liboneflow #{version}, which this process has loaded " \
                    "from #{other}; #{TOGETHER}"], run.call(LD_PRELOAD: other)
      patch(other, "of_library_path", "of_library_hath")
      first, cause = run.call(LD_PRELOAD: other)
      assert_equal "#{CANNOT}this process has loaded liboneflow of another version from #{other}; #{TOGETHER}", first
      assert_match(/of_library_path/, cause)
    end
  end
end
