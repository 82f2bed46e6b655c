import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findOpa } from "./find-opa.ts";

const opa = findOpa();
/** The public policy sets, a directory each. */
const sets = fileURLToPath(new URL("../../../../../shared/suites/policies", import.meta.url));
const missing = [
  opa === undefined ? "opa (tools/install-opa.sh)" : "",
  existsSync(sets) ? "" : "../shared/suites/policies",
].filter((what) => what !== "");

/** What tests beside the `opa` program over the public policy sets need; `skip` without one of them, and `note` says which. */
export const policySuites = {
  opa: opa as string,
  sets,
  skip: missing.length > 0,
  note: missing.length > 0 ? ` (not here: ${missing.join(", ")})` : "",
};

/** The files below a directory whose path fits, in order. */
export function filesBelow(root: string, pattern: RegExp): readonly string[] {
  return (readdirSync(root, { recursive: true }) as string[]).filter((name) => pattern.test(name)).sort();
}
