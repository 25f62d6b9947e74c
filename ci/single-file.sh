#!/usr/bin/env bash
# Builds single/drillproof.mjs if it is missing: a release includes it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -f single/drillproof.mjs ]] && exit
npm ci --ignore-scripts --prefer-offline --no-audit --no-fund >/dev/null
node --experimental-strip-types --no-warnings scripts/build.ts single
