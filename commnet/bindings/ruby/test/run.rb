# frozen_string_literal: true

# Runs all tests, or those of the given files, in one process: `ruby test/run.rb [FILE...]`.

files = ARGV.grep(/\.rb\z/)
ARGV.reject! { |argument| files.include?(argument) }
files = Dir[File.join(__dir__, "*_test.rb")] if files.empty?
files.sort.each { |file| require File.expand_path(file) }
