import { situation } from "./error-table.ts";

/** One thing wrong with a request: `path` such as `body.items[2].name`. Never the offending value. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** `validation_failed` with every issue; `field` and `reason` repeat the first one for simple clients. */
export function invalid(issues: readonly Issue[]): Error {
  const shown = issues.slice(0, 50);
  const first = shown[0] ?? { path: "", message: "invalid" };
  const field = fieldAt(first.path);
  return situation("validation_failed", `${field}: ${first.message}`, { field, reason: first.message, issues: shown });
}

/** A path without the part of the request that it begins with. */
export function fieldAt(path: string): string {
  return path.replace(/^(body|query|params)\./, "");
}

/** A client's own name for a field, cut so that an error stays small. */
export function shortName(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}...` : name;
}
