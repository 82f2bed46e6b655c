import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where `tools/install-peers.sh` puts it; `undefined` where it is not installed. */
export const schemathesis = [
  process.env["SCHEMATHESIS"],
  new URL("../../../../.peers/schemathesis/bin/schemathesis", import.meta.url).pathname,
].find((path) => path !== undefined && existsSync(path));

/** One kind of caller, and the running service that it calls. */
export interface Probe {
  readonly url: string;
  /** An OpenAPI document. */
  readonly document: object;
  /** PEM of the CA behind the server's certificate. */
  readonly ca?: string;
  readonly token?: string;
  readonly identity?: { readonly cert: string; readonly key: string };
  /** Operations that it is not to call: those of media types that it cannot write, and streams without an end. */
  readonly without?: readonly string[];
}

/** What a caller's answers must never be, whatever was sent. */
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
];

/** What refuses bad data: Schemathesis' own list, 413 and 431 for what is too large before anybody looks at it. */
const REFUSALS = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "431", "5xx"];

/**
 * Lets Schemathesis call every operation of a document with good and bad data. Answers what it printed and whether it found
 * nothing. `SCHEMATHESIS_EXAMPLES` (10) cases for an operation, the same in every run.
 */
export async function probe({
  url,
  document,
  ca,
  token,
  identity,
  without = [],
}: Probe): Promise<{ readonly clean: boolean; readonly text: string }> {
  const directory = mkdtempSync(join(tmpdir(), "schemathesis-"));
  const file = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  file("schemathesis.toml", `[checks]\nnegative_data_rejection.expected-statuses = ${JSON.stringify(REFUSALS)}\n`);
  const options = [
    ["run", file("openapi.json", JSON.stringify(document))],
    ["--url", url, "--checks", CHECKS.join(","), "--phases", "examples,coverage,fuzzing", "--mode", "all"],
    ["--max-examples", process.env["SCHEMATHESIS_EXAMPLES"] ?? "3", "--generation-deterministic"],
    // Asked is what is answered, not how soon: the machine may be busy.
    ["--request-timeout", "60"],
    ["--suppress-health-check", "all", "--no-color", "--continue-on-failure", "--warnings", "off"],
    without.flatMap((operation) => ["--exclude-operation-id", operation]),
    ca === undefined ? [] : ["--tls-verify", file("ca.pem", ca)],
    token === undefined ? [] : ["--header", `Authorization: Bearer ${token}`],
    identity === undefined ? [] : ["--request-cert", file("cert.pem", identity.cert)],
    identity === undefined ? [] : ["--request-cert-key", file("key.pem", identity.key)],
  ].flat();
  try {
    // Into a file: what it prints can be more than a pipe holds while nobody reads.
    const output = join(directory, "output.txt");
    const child = spawn("sh", ["-c", `exec "$0" "$@" > ${output} 2>&1`, schemathesis ?? "", ...options], { cwd: directory });
    const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
    return { clean: code === 0, text: readFileSync(output, "utf8") };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
