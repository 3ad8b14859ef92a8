# The Node.js front end's steps of the top Makefile.

BINDINGS += js
JS := bindings/js
JS_TESTS = $(wildcard $(JS)/test/*.test.mjs $(JS)/generated/*.test.mjs)

$(JS)/node_modules/.package-lock.json: $(JS)/package.json $(JS)/package-lock.json | $(BUILD)/.packages
	@echo "Installing the Node.js packages that the addon is built with"
	@cd $(JS) && npm ci --silent

.PHONY: before-build-js build-js test-js demo-js package-js lint-js

before-build-js: $(JS)/node_modules/.package-lock.json

build-js: # programs of this checkout find the package through NODE_PATH
	@mkdir -p $(BUILD)/js && ln -sfn $(CURDIR)/$(JS) $(BUILD)/js/oneflow-js
	@cd $(JS) && node -e "require('oneflow-js')"

test-js:
	@cd $(JS) && node --test --expose-gc $(patsubst $(JS)/%,%,$(JS_TESTS))

demo-js:
	@NODE_PATH=$(CURDIR)/$(BUILD)/js node examples/digits/digits.js

# A tarball that installs without a compiler, on this operating system and architecture.
package-js:
	@BUILD=$(CURDIR)/$(BUILD) DIST=$(CURDIR)/dist $(JS)/package.sh

lint-js: $(JS)/node_modules/.package-lock.json
	@cd $(JS) && npx --no-install tsc -p test/types && npx --no-install tsc -p .
	@cd $(JS) && node test/lint.mjs
