#!/usr/bin/env bash
# The bash sample with one fault in what it writes, chosen by name.
#
#     faulty.sh NAME DIR [FILE]
#
# DIR has the samples. A fault is a jq program for the stream of Outputs; but for
# reads-a-file, which takes its input from FILE.

name=$1
source "$2/agent.sh"

# Bodies are changed as base64 text: YWJj is "abc".
declare -A faults=(
  [splits-records]='if .name == "answer" then {data}, ({name, metadata} | del(.[] | nulls)) else . end'
  [plain-text]='if ."content-type" == "text/plain" then .data = "not encoded!" else . end'
  [url-safe]='.data |= gsub("\\+"; "-") | if .name == "answer" then .data = "-__-" else . end'
  [breaks-base64]='if .name == "answer" then .data = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB\nQUFB" else . end'
  [dashed-session]='if .session then .session |= .[:8] + "-" + .[8:12] + "-" + .[12:16] + "-" + .[16:20] + "-" + .[20:] else . end'
  [upper-session]='if .session then .session |= ascii_upcase else . end'
  [controls]='if ."content-type" | test("pause") then {"content-type": "application/vnd.pugmark.control+json", data: ({status: "stopped"} | tojson | @base64)} else . end'
  [binary-reason]='if ."content-type" | test("pause") then .data = "/w==" else . end'
  [top-level-duration]='if .metadata.duration then . + {duration: .metadata.duration} | del(.metadata) else . end'
  [spaced-duration]='if .metadata.duration then .metadata.duration = "90 s" else . end'
  [fork-as-text]='if .fork then .fork = "true" else . end'
  [pause-as-json]='if ."content-type" | test("pause") then ."content-type" = "application/vnd.pugmark.pause+json" else . end'
  [adds-type]='if .name == "answer" then .type = "note" else . end'
  [nameless-memory]='if .name == "memories/notebook/count" then .name = "memories/notebook/" else . end'
  [spells-empty]='if .name == "answer" then .session = "" else . end'
  [pause-with-charset]='if ."content-type" | test("pause") then ."content-type" += "; charset=utf-8" else . end'
  [pause-as-field]='if ."content-type" | test("pause") then {pause: (.metadata.duration // true)} else . end'
  [reads-a-file]='.'
  [pauses-twice]='if ."content-type" | test("pause") then ., . else . end'
)

original_handle=$(declare -f handle)
eval "sample_${original_handle}"
handle() {
  sample_handle
  jq -c "${faults[$name]}" outputs >spoilt && mv spoilt outputs
}

if [[ $name == reads-a-file ]]; then
  [[ -s ${3-} ]] || fail "usage: faulty.sh NAME DIR FILE"
  exec <"$3"
fi
main
