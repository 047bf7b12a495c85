#!/bin/sh
# Runs one step of the Makefile and notes its seconds in target/durations/steps.tsv.
# Usage: tools/step.sh NAME COMMAND...   or   tools/step.sh --table, which prints the steps since the last table
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
steps=$root/target/durations/steps.tsv
if [ "$1" = --table ]; then
    awk -F '\t' '{ printf "%6d s  %s\n", $1, $2; sum += $1 } END { printf "%6d s  in all\n", sum }' "$steps"
    mv "$steps" "$root/target/durations/steps-before.tsv"
    exit
fi
name=$1
shift
began=$(date +%s)
"$@"
mkdir -p "$(dirname "$steps")"
printf '%d\t%s\n' $(($(date +%s) - began)) "$name" >>"$steps"
