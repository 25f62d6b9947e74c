#!/usr/bin/env bash
# Runs the gate in a step of GitHub Actions, and writes the log, annotations, the summary and the outputs. Inputs are GATE_…
# variables. The exit code is that of the gate, so the step fails on everything but yes.
set -euo pipefail
drillproof=$(dirname "${BASH_SOURCE[0]}")/../single/drillproof.mjs
# 1 would mean no.
work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/drillproof-gate-XXXXXX") || exit 3

arguments=()
# Lists the lines of a variable that are not blank, each after the option if one is passed.
add() {
  local option=$1 line
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line%$'\r'}
    [[ $line =~ [^[:space:]] ]] || continue
    arguments+=(${option:+"$option"} "$line")
  done <<<"$2"
}
add --policy "${GATE_POLICY:-}"
add --trust "${GATE_TRUST:-}"
add --key "${GATE_KEY:-}"
add --url "${GATE_URL:-}"
add --project "${GATE_PROJECT:-}"
add --format "${GATE_FORMATS:-}"
add '' "${GATE_ARGUMENTS:-}"
arguments+=(--)
add '' "${GATE_EVIDENCE:-}"
[[ -n ${DRILLPROOF_TOKEN:-} ]] || unset DRILLPROOF_TOKEN

# The text quotes evidence, which the runner must not run as commands.
stop=$(node -p 'crypto.randomUUID()') || exit 3
echo "::stop-commands::$stop"
status=0
node "$drillproof" gate --force --format text \
  --format "json=$work/decision.json" --format "github=$work/annotations" --format "markdown=$work/summary.md" \
  "${arguments[@]}" || status=$?
echo "::$stop::"

# A decision that was written before a later failure is not the answer of the gate. --sign puts it in an envelope.
decided='' answer=''
[[ ! -f $work/decision.json ]] || read -r decided answer < <(
  node -p 'const read = JSON.parse(fs.readFileSync(process.argv[1]));
    const { run, answer } = read.payload ? JSON.parse(atob(read.payload)).predicate.report : read;
    `${run.exitCode} ${answer}`' "$work/decision.json"
) || true
ended=false
if [[ $status == "$decided" ]]; then
  ended=true
elif [[ $status == [01] ]]; then
  status=3
fi

# Appends its input to a file of the runner. Elsewhere there is none, and no failure here changes the answer. The input is not a
# pipe, because writing to a pipe without a reader ends the script.
append() {
  cat >>"${1:-/dev/null}" || echo '::warning title=drillproof gate::the summary or the outputs cannot be written'
}
if [[ $ended == true ]]; then
  cat "$work/annotations" || true
  [[ ${GATE_SUMMARY:-true} == false ]] || append "${GITHUB_STEP_SUMMARY:-}" <"$work/summary.md" || true
  append "${GITHUB_OUTPUT:-}" <<<"answer=$answer"$'\n'"decision=$work/decision.json"
else
  echo '::error title=drillproof gate::the gate could not be run; read the log for the reason'
fi
append "${GITHUB_OUTPUT:-}" <<<"exit-code=$status"
exit "$status"
