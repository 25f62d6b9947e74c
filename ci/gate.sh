#!/bin/sh
# Runs the gate in any CI system. Inputs are variables; lists have one item on each line:
#   GATE_EVIDENCE   evidence                    GATE_POLICY     a policy (default: the default policy)
#   GATE_TRUST      trust stores                GATE_ARGUMENTS  more arguments of drillproof gate
#   GATE_OUTPUT     folder for reports (.)      DRILLPROOF      the single file (drillproof.mjs)
# The exit code is that of the gate: 0 yes, 1 no, 2 wrong call or configuration, 3 could not tell.
set -uf
drillproof=${DRILLPROOF:-drillproof.mjs}
out=${GATE_OUTPUT:-.}
mkdir -p "$out" || exit 3

# Reports of an earlier run must not be shown as those of this one.
for name in decision.json junit.xml results.sarif; do
  rm -f "$out/drillproof-$name" || exit 3
done

# Without the file, Node.js ends with 1, which would mean no.
if [ ! -f "$drillproof" ]; then
  echo "drillproof: $drillproof is missing" >&2
  exit 2
fi

IFS='
'
set -- gate --force --format text \
  --format "json=$out/drillproof-decision.json" \
  --format "junit=$out/drillproof-junit.xml" \
  --format "sarif=$out/drillproof-results.sarif"
for line in ${GATE_POLICY:-}; do set -- "$@" --policy "$line"; done
for line in ${GATE_TRUST:-}; do set -- "$@" --trust "$line"; done
for line in ${GATE_ARGUMENTS:-}; do set -- "$@" "$line"; done
set -- "$@" --
for line in ${GATE_EVIDENCE:-}; do set -- "$@" "$line"; done
exec node "$drillproof" "$@"
