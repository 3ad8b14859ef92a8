# The Ruby front end's steps; the top Makefile says when they run.

BINDINGS += ruby

.PHONY: before-build-ruby build-ruby test-ruby demo-ruby package-ruby lint-ruby

before-build-ruby: # Ruby's headers come with its Debian package

build-ruby: # CMake has put the extension into bindings/ruby/lib
	@ruby -Ibindings/ruby/lib -e 'require "oneflow"'

test-ruby: # the gem's tests, the vectors, and every example and error case of the records
	@ruby bindings/ruby/test/run.rb

demo-ruby:
	@ruby -Ibindings/ruby/lib examples/digits/digits.rb

package-ruby:
	@ruby bindings/ruby/package.rb $(BUILD) dist

lint-ruby:
	@cd bindings/ruby && rubocop --format simple --fail-level convention --display-only-fail-level-offenses
