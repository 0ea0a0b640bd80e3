#!/usr/bin/env bash
# The main job on real input: index a source tree, search it, query it, compact,
# verify, show figures.
#
#	demo.sh SHEAF TREE DIR    the command, the tree to index, where the stores go
set -euo pipefail
sheaf=$(realpath "$1") tree=$(basename "$2")
rm -rf "$3"
mkdir -p "$3"
dir=$(realpath "$3")
cd "$(dirname "$2")" # so that paths are printed from the tree on

say() { printf '\n$ %s\n' "${*//"$dir/"/}"; }
run() { say "sheaf $*"; "$sheaf" "$@"; }
top() { say "sheaf $* | head -5"; "$sheaf" "$@" | head -5 || true; }

run version

code=$dir/code.sheaf words=$dir/words.sheaf
run index "$code" "$tree"
top search "$code" 'func ListenAndServe('
top search -e "$code" 'sync\.(RW)?Mutex // (protects|guards)'
top search -i -l "$code" 'turbopfor'
run search -e -c "$code" '^func \(.*\) Unwrap\(\) error' | tail -3

run index --by word "$words" "$tree/net" "$tree/sync" "$tree/runtime"
run query --count "$words" 'mutex AND (atomic OR semaphore) AND NOT testing'
run query --files --limit 5 "$words" 'atleast(3, mutex, atomic, semaphore, futex)'

run compact "$code"
run verify "$code"
run stats "$code"
