import type { StoredCrk } from "./root-keys.ts";

/** A root key as callers see it. One of an earlier release names no custodians. */
export function crkView(crk: StoredCrk) {
  return { ...crk, custodians: [...(crk.custodians ?? [])] };
}
