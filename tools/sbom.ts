/** Prints the bill of materials of the CLI, and with it of everything that runs: CycloneDX, by `npm sbom`, of what its shrinkwrap names. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Lock, shrinkwrapOf } from "./shrinkwrap.ts";

const file = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** @throws Error when npm cannot make it. */
export function sbom(): string {
  const dir = mkdtempSync(join(tmpdir(), "seneschal-sbom-"));
  try {
    writeFileSync(join(dir, "package.json"), file("packages/cli/package.json"));
    const lock = shrinkwrapOf(JSON.parse(file("package-lock.json")) as Lock, "packages/cli");
    writeFileSync(join(dir, "package-lock.json"), JSON.stringify(lock));
    const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--omit", "dev"];
    const { status, stdout, stderr } = spawnSync("npm", args, { cwd: dir, encoding: "utf8", maxBuffer: 2 ** 26 });
    if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
    return stdout;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(sbom());
