import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether the openssl binary is there; suites that need it are skipped visibly without it. */
export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

/** Runs openssl over files in a directory of its own; `out` is what it wrote to the file of that name. */
export function openssl(files: Readonly<Record<string, string | Uint8Array>>, ...args: readonly string[]) {
  const dir = mkdtempSync(join(tmpdir(), "x509-"));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
    const result = spawnSync("openssl", args, { cwd: dir });
    const out = existsSync(join(dir, "out")) ? new Uint8Array(readFileSync(join(dir, "out"))) : new Uint8Array();
    return { ok: result.status === 0, text: `${result.stdout}${result.stderr}`, stdout: String(result.stdout), out };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
