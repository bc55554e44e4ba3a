#!/usr/bin/env bash
# Runs pugcheck in a CI job as the PUGCHECK_* variables say, and leaves its reports in
# $PUGCHECK_OUT. On GitHub it writes annotations, the job's summary and the outputs of
# the step, and ends with 0: a later step gates, when everything is uploaded. Elsewhere it
# ends with pugcheck's own status.
#
# No variable is ever evaluated: what is not one word is split by xargs, which knows
# quotes and expands nothing.
set -uo pipefail

on_github() { [ -n "${GITHUB_ACTIONS:-}" ]; }
PATH="${PUGCHECK_BIN:+$PUGCHECK_BIN:}$PATH"
out=$PUGCHECK_OUT
mkdir -p "$out" || exit 3

refuse() {
  if on_github; then
    printf '::error title=pugcheck::%s\n' "$1"
  else
    printf 'pugcheck: %s\n' "$1" >&2
  fi
  finish 2
}

# finish STATUS: leaves what later steps need, and ends.
finish() {
  local status=$1 verdict=unusable conclusion='' result='' sarif=''
  if [ -f "$out/result.json" ]; then
    result=$out/result.json
    # Both stand once in the file, on lines of their own.
    verdict=$(sed -n 's/^    "standing": "\(.*\)",$/\1/p' "$result" | head -n 1)
    conclusion=$(sed -n 's/^    "statement": "\(.*\)",$/\1/p' "$result" | head -n 1)
  fi
  if [ -f "$out/pugcheck.sarif" ]; then sarif=$out/pugcheck.sarif; fi
  if ! on_github; then exit "$status"; fi
  {
    printf 'status=%s\n' "$status"
    printf 'verdict=%s\n' "$verdict"
    printf 'conclusion=%s\n' "$conclusion"
    printf 'result=%s\n' "$result"
    printf 'sarif=%s\n' "$sarif"
  } >>"$GITHUB_OUTPUT"
  if [ -f "$out/summary.md" ]; then
    cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
  else
    printf 'pugcheck judged nothing (exit status %s); the log of the job says why.\n' "$status" >>"$GITHUB_STEP_SUMMARY"
  fi
  exit 0
}

case ${PUGCHECK_SUITE:=runtime} in
  runtime | handler) ;;
  *) refuse 'suite has to be runtime or handler' ;;
esac

args=("$PUGCHECK_SUITE" --report "json=$out/result.json" --report "markdown=$out/summary.md")
if on_github && [ "${PUGCHECK_ANNOTATIONS:-true}" = true ]; then
  args+=(--report "github=$out/annotations.txt")
fi

formats=${PUGCHECK_REPORTS:-}
if [ "${PUGCHECK_SARIF:-}" = true ]; then formats+=' sarif'; fi
seen=' json markdown github '
set -f
for format in $formats; do
  case $seen in *" $format "*) continue ;; esac
  seen+="$format "
  case $format in
    html) args+=(--report "html=$out/report.html") ;;
    junit) args+=(--report "junit=$out/junit.xml") ;;
    sarif) args+=(--report "sarif=$out/pugcheck.sarif") ;;
    tap) args+=(--report "tap=$out/result.tap") ;;
    badge) args+=(--report "badge=$out/badge.json" --report "badge=$out/badge.svg") ;;
    *) refuse 'reports: known are html, junit, sarif, tap and badge' ;;
  esac
done
set +f

if [ -n "${PUGCHECK_PROFILE:-}" ]; then args+=(--profile "$PUGCHECK_PROFILE"); fi
if [ -n "${PUGCHECK_REQUIREMENTS:-}" ]; then args+=(--requirements "$PUGCHECK_REQUIREMENTS"); fi
if [ -n "${PUGCHECK_KNOWN:-}" ]; then args+=(--known-failing "$PUGCHECK_KNOWN"); fi
if [ "${PUGCHECK_STRICT:-}" = true ]; then args+=(--strict); fi

keep=${PUGCHECK_KEEP_ARTIFACTS:-true}
rm -f "$out/artifacts.tar.gz"
if [ "$keep" = true ]; then args+=(--artifacts "$out/artifacts"); fi

more=${PUGCHECK_ARGS:-}
if [ -n "${more//[[:space:]]/}" ]; then
  words=$(printf '%s\n' "$more" | xargs -n 1 printf '%s\n') || refuse 'args: a quote is not closed'
  while IFS= read -r word; do args+=("$word"); done <<<"$words"
fi
if [ -n "${PUGCHECK_COMMAND:-}" ]; then args+=("$PUGCHECK_COMMAND"); fi

# What the subject prints must not be taken for commands to the runner.
if on_github; then
  token=$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$token"
fi
pugcheck "${args[@]}"
status=$?
# Packed, because the names in there have colons, which some uploaders refuse.
kept=$out/artifacts/$PUGCHECK_SUITE
if [ "$keep" = true ]; then
  if [ -d "$kept" ] && tar -czf "$out/artifacts.tar.gz" -C "$out" artifacts/index.json "artifacts/$PUGCHECK_SUITE"; then
    rm -rf "$kept"
    printf '\nartifacts/ is packed as artifacts.tar.gz beside the reports: unpack it, and run: pugcheck repro artifacts/%s/SCENARIO\n' "$PUGCHECK_SUITE"
  fi
  if [ ! -d "$kept" ]; then
    rm -f "$out/artifacts/index.json"
    rmdir "$out/artifacts" 2>/dev/null
  fi
fi
if on_github; then
  printf '::%s::\n' "$token"
  if [ -f "$out/annotations.txt" ]; then
    cat "$out/annotations.txt"
  elif [ ! -f "$out/result.json" ]; then
    printf '::error title=pugcheck::It could not be judged (exit status %s); the log says why.\n' "$status"
  fi
fi
finish "$status"
