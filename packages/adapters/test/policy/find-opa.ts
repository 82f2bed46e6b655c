import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The `opa` program: `OPA`, what tools/install-opa.sh installed, or the PATH's; undefined where there is none. */
export function findOpa(): string | undefined {
  const installed = fileURLToPath(new URL("../../../../.opa/opa", import.meta.url));
  for (const candidate of [process.env["OPA"], installed]) {
    if (candidate !== undefined && existsSync(candidate)) return candidate;
  }
  try {
    execFileSync("opa", ["version"], { stdio: "ignore" });
    return "opa";
  } catch {
    return undefined;
  }
}
