# frozen_string_literal: true

# Runs all tests, or those whose files are named: `ruby test/run.rb [FILE...]`. One summary closes the run.

files = ARGV.grep(/\.rb\z/)
ARGV.reject! { |argument| files.include?(argument) }
files = Dir[File.join(__dir__, "*_test.rb"), File.join(__dir__, "../generated/test_*.rb")] if files.empty?
files.sort.each { |file| require File.expand_path(file) }
