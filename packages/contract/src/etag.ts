import { checkArgument } from "@seneschal/kernel";
import { situation } from "./error-table.ts";

/** The strong entity tag of an entity's version. */
export function versionTag(version: number): string {
  return `"v${version}"`;
}

/**
 * Guards a change with `If-Match` (RFC 9110 section 13.1.1): throws `precondition_failed` unless the header names the entity's
 * present tag, compared strongly. Without the header everything passes.
 */
export function requireMatch(headers: Readonly<Record<string, string | undefined>>, tag: string): void {
  checkArgument("headers", headers, "object");
  checkArgument("tag", tag, "string");
  const wanted = headers["if-match"];
  if (wanted === undefined || wanted.trim() === "*") return;
  if (!tags(wanted).includes(tag)) {
    throw situation("precondition_failed", "the entity has changed since the version named in If-Match", { etag: tag });
  }
}

/** True when `If-None-Match` holds the tag, compared weakly: the caller has this representation. */
export function noneMatch(header: string | undefined, tag: string | undefined): boolean {
  if (header === undefined || tag === undefined) return false;
  return header.trim() === "*" || tags(header).map(strong).includes(strong(tag));
}

function tags(header: string): readonly string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

function strong(tag: string): string {
  return tag.replace(/^W\//, "");
}
