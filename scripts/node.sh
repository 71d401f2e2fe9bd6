#!/bin/sh
# Runs a script of npm run with Node: `scripts/node.sh FILE ARGUMENTS`. Without the packages Node
# is often too old for TypeScript.
[ -e node_modules ] || { echo 'This command needs its packages: run npm ci first.' >&2; exit 2; }
exec node "$@"
