#!/usr/bin/env bash
# Puts the command into single/drillproof.mjs. A release names the SHA-256 of that file in ci/drillproof.mjs.sha256, and the
# file is downloaded; nothing is installed on the runner. A checkout without that name builds the file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
file=single/drillproof.mjs sums=ci/drillproof.mjs.sha256

# Prints the SHA-256 of a file; macOS has no sha256sum.
digest() { node -p 'crypto.createHash("sha256").update(fs.readFileSync(process.argv[1])).digest("hex")' "$1"; }

if [[ ! -f $sums ]]; then
  [[ -f $file ]] && exit
  npm ci --ignore-scripts --prefer-offline --no-audit --no-fund >/dev/null
  node --experimental-strip-types --no-warnings scripts/build.ts single
  exit
fi

read -r expected _ <"$sums"
[[ -f $file && $(digest "$file") == "$expected" ]] && exit
address=$(node -p 'const { repository, version } = require("./package.json");
  `${repository.url.replace(/^git\+|\.git$/g, "")}/releases/download/v${version}/drillproof.mjs`')
mkdir -p single
rm -f "$file"
curl --fail --silent --show-error --location --retry 3 --output "$file.download" "$address"
actual=$(digest "$file.download")
if [[ $actual != "$expected" ]]; then
  rm "$file.download"
  echo "::error title=drillproof::$address has the SHA-256 $actual, but this release has $expected"
  exit 2
fi
mv "$file.download" "$file"
