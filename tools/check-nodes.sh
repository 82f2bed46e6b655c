#!/usr/bin/env bash
# Runs the tour, the tests and the packages on each release of Node that is promised, or only what is named behind the versions:
#   tools/check-nodes.sh                          the tour, npm test and npm run packages on all of them: an hour
#   tools/check-nodes.sh "22 24" npm run tour     a command on some of them
# The npm package `node` carries the binaries. What failed is named at the end; docs/verification.md says what ran.
set -u
versions="${1:-20.19 22 24 26}"
[ $# -gt 0 ] && shift
command="${*:-npm run tour && npm test && npm run packages}"
failed=""
for version in $versions; do
  echo "== Node $version: $command"
  npm exec --yes --package="node@$version" -c "node --version && $command" || failed="$failed $version"
done
[ -z "$failed" ] && echo "passed on $versions" || { echo "FAILED on$failed"; exit 1; }
