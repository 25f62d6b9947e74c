#!/usr/bin/env bash
# Makes single/drillproof.mjs where it is not there: a release carries it, a checkout builds it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -f single/drillproof.mjs ]] && exit
npm ci --ignore-scripts --prefer-offline --no-audit --no-fund >/dev/null
node --experimental-strip-types --no-warnings scripts/build.ts single
