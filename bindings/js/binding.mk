# The Node.js front end's steps; the top Makefile says when they run.

BINDINGS += js
JS := bindings/js
NODE_PACKAGES := $(JS)/node_modules/.package-lock.json

# Headers of Node-API for the addon, and what the tests and checks need.
$(NODE_PACKAGES): $(JS)/package.json $(JS)/package-lock.json | $(BUILD)/.packages
	@command -v npm >/dev/null || { echo "npm is missing: it comes with Node.js, in Debian as a package of its own"; exit 1; }
	@echo "Installing the Node.js packages"
	@cd $(JS) && npm ci --silent

.PHONY: before-build-js build-js test-js package-js install-js demo-js gallery-js lint-js

before-build-js: $(NODE_PACKAGES)

build-js: # CMake has put the addon into $(BUILD)/lib; this makes the package one that programs here can name
	@mkdir -p $(BUILD)/node_modules
	@ln -sfn $(CURDIR)/$(JS) $(BUILD)/node_modules/oneflow-js
	@cd $(JS) && node -e "require('oneflow-js')"

test-js: # hand-written tests, the vectors, and every example and error case of the records
	@cd $(JS) && node --test --expose-gc test/*.test.mjs generated/*.test.mjs

package-js:
	@BUILD=$(CURDIR)/$(BUILD) DIST=$(CURDIR)/dist $(JS)/package.sh

install-js: package-js # the tarball, into a project where there is nothing else
	@rm -rf $(INSTALLED)/js && mkdir -p $(INSTALLED)/js
	@npm install --silent --offline --prefix $(INSTALLED)/js "$$(ls -t $(CURDIR)/dist/*.tgz | head -n 1)"

demo-js:
	@NODE_PATH=$(INSTALLED)/js/node_modules node examples/devices/devices.js
	@NODE_PATH=$(INSTALLED)/js/node_modules node examples/digits/digits.js $(DEMO_OPTIONS)

gallery-js: # Node.js looks for the packages of a module above where it lies
	@cp examples/einsum/gallery.mjs $(BUILD)/gallery.mjs
	@node $(BUILD)/gallery.mjs

lint-js: $(NODE_PACKAGES)
	@cd $(JS) && npm run --silent lint
