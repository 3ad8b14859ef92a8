# The build steps of the Node.js front end. The top-level Makefile determines when they run.

BINDINGS += js
JS := bindings/js
NODE_PACKAGES := $(JS)/node_modules/.package-lock.json

# The npm packages: the headers of Node-API for the addon, and the tools of the tests and checks.
$(NODE_PACKAGES): $(JS)/package.json $(JS)/package-lock.json | $(BUILD)/.packages
	@command -v npm >/dev/null || { echo "npm is missing: it comes with Node.js; on Debian, install the package npm"; exit 1; }
	@echo "Installing the Node.js packages"
	@cd $(JS) && npm ci --silent

.PHONY: before-build-js build-js test-js package-js install-js demo-js train-js gallery-js lint-js

before-build-js: $(NODE_PACKAGES)

build-js: # CMake has built the addon in $(BUILD)/lib; this step makes the package importable by name
	@mkdir -p $(BUILD)/node_modules
	@ln -sfn $(CURDIR)/$(JS) $(BUILD)/node_modules/oneflow-js
	@cd $(JS) && node -e "require('oneflow-js')"

test-js: package-js # the hand-written tests, the conformance vectors, and all examples and error cases of the records
	@cd $(JS) && node --test --expose-gc test/*.test.mjs generated/*.test.mjs

package-js: # makes the tarballs for npm from the payload
	@BUILD=$(CURDIR)/$(BUILD) DIST=$(CURDIR)/dist/js node $(JS)/package.mjs

install-js: package-js # installs the tarballs into an empty project
	@rm -rf $(INSTALLED)/js && mkdir -p $(INSTALLED)/js
	@npm install --silent --offline --prefix $(INSTALLED)/js $(CURDIR)/dist/js/*.tgz

demo-js:
	@NODE_PATH=$(INSTALLED)/js/node_modules node examples/devices/devices.js
	@NODE_PATH=$(INSTALLED)/js/node_modules node examples/digits/digits.js $(DEMO_OPTIONS)

train-js:
	@NODE_PATH=$(INSTALLED)/js/node_modules node examples/train/train.js $(TRAIN_OPTIONS)

gallery-js: # runs in $(BUILD): Node.js searches for node_modules in the folders above the module
	@cp examples/einsum/gallery.mjs $(BUILD)/gallery.mjs
	@node $(BUILD)/gallery.mjs

lint-js: $(NODE_PACKAGES)
	@cd $(JS) && npm run --silent lint
