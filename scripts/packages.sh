#!/bin/sh
# Ends a script of npm run that lacks its packages: `scripts/packages.sh && COMMAND`. Without them
# Node is often too old for TypeScript.
[ -e node_modules/tap ] && exit
echo 'This command needs the packages of development: run npm ci, without --omit, first.' >&2
exit 2
