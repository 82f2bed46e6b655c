#!/usr/bin/env bash
# Installs the `opa` program with Go, for the integration suites. Prints where it is; fails where Go is missing.
set -eu
version="${OPA_VERSION:-v1.12.3}"
target="${OPA_BIN:-$(cd "$(dirname "$0")/.." && pwd)/.opa}"
if ! command -v go >/dev/null; then
  echo "not installed: opa (needs Go)" >&2
  exit 1
fi
GOBIN="$target" go install "github.com/open-policy-agent/opa@$version"
echo "$target/opa"
