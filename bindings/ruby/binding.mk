# Build steps of the Ruby front end. The top-level Makefile defines when they run.

BINDINGS += ruby

.PHONY: before-build-ruby build-ruby test-ruby package-ruby install-ruby demo-ruby train-ruby gallery-ruby lint-ruby
.PHONY: other-rubies

before-build-ruby: # nothing to do: Ruby's headers come with its Debian package

build-ruby: # bindings/ruby/lib gets a symbolic link to the extension in the build folder
	@ln -sf $(OF_BUILD)/bindings/ruby/oneflow.so bindings/ruby/lib/oneflow/oneflow.so
	@ruby -Ibindings/ruby/lib -e 'require "oneflow"'

test-ruby: # the gem's tests, the conformance vectors, and every example and error case of the operator records
	@ruby bindings/ruby/test/run.rb

packages: other-rubies
other-rubies: build # the extension for another version of Ruby, if its headers can be downloaded
	@bindings/ruby/packaging/headers.sh $(BUILD)/ruby-headers
	@cmake --build $(BUILD)

package-ruby: # the source gem, the gem with binaries, and one for each device plugin
	@ruby bindings/ruby/package.rb $(BUILD)/payload dist/ruby

install-ruby: package-ruby # installs the gems with binaries into an empty folder
	@rm -rf $(INSTALLED)/ruby
	@GEM_HOME=$(INSTALLED)/ruby gem install --silent --local --no-document dist/ruby/*-linux-*.gem

demo-ruby:
	@GEM_HOME=$(INSTALLED)/ruby ruby examples/devices/devices.rb
	@GEM_HOME=$(INSTALLED)/ruby ruby examples/digits/digits.rb $(DEMO_OPTIONS)

train-ruby:
	@GEM_HOME=$(INSTALLED)/ruby ruby examples/train/train.rb $(TRAIN_OPTIONS)

gallery-ruby:
	@ruby -Ibindings/ruby/lib examples/einsum/gallery.rb

lint-ruby:
	@cd bindings/ruby && rubocop --format simple --fail-level convention --display-only-fail-level-offenses
