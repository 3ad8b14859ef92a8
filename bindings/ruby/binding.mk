# The Ruby front end's steps; the top Makefile says when they run.

BINDINGS += ruby

.PHONY: before-build-ruby build-ruby test-ruby package-ruby install-ruby demo-ruby gallery-ruby lint-ruby

before-build-ruby: # Ruby's headers come with its Debian package

build-ruby: # what lies in bindings/ruby/lib is a link to the extension of the build folder
	@ln -sf $(OF_BUILD)/bindings/ruby/oneflow.so bindings/ruby/lib/oneflow/oneflow.so
	@ruby -Ibindings/ruby/lib -e 'require "oneflow"'

test-ruby: # the gem's tests, the vectors, and every example and error case of the records
	@ruby bindings/ruby/test/run.rb

package-ruby: # a gem that installs without a compiler, and one of the sources
	@ruby bindings/ruby/package.rb $(BUILD) dist

install-ruby: package-ruby # the gem without a compiler, into a folder where there is nothing else
	@rm -rf $(INSTALLED)/ruby
	@GEM_HOME=$(INSTALLED)/ruby gem install --silent --local --no-document "$$(ls -t dist/*-linux*.gem | head -n 1)"

demo-ruby:
	@GEM_HOME=$(INSTALLED)/ruby ruby examples/devices/devices.rb
	@GEM_HOME=$(INSTALLED)/ruby ruby examples/digits/digits.rb $(DEMO_OPTIONS)

gallery-ruby:
	@ruby -Ibindings/ruby/lib examples/einsum/gallery.rb

lint-ruby:
	@cd bindings/ruby && rubocop --format simple --fail-level convention --display-only-fail-level-offenses
