import { checkArgument } from "@seneschal/kernel";
import { dueAt, inFilter, type LifecycleRule, lifecycleDue } from "../lifecycle.ts";
import type { ListedVersion } from "./object-store.ts";
import type { Upload } from "./records.ts";

/**
 * What is due of a key, all of whose versions these are, the latest first.
 *
 * @example
 * ```ts
 * import { expiringVersions } from "@seneschal/core/storage";
 * const rule = { id: "old", enabled: true, filter: {}, form: "filter", noncurrent: { newer: 1 } } as const;
 * const one = { bucket: "docs", key: "a", tenant: "acme", size: 1, etag: "e", content_type: "", headers: {}, meta: {} };
 * const versions = [3, 2, 1].map((at) => ({ ...one, modified_at: at, latest: at === 3 }));
 * console.log(expiringVersions([rule], versions, 9, 1).map(({ version }) => version.modified_at)); // [ 1 ]
 * ```
 */
export function expiringVersions<V extends ListedVersion>(
  rules: readonly LifecycleRule[],
  versions: readonly V[],
  now: number,
  dayMs: number,
): readonly { readonly version: V; readonly due: "delete" | "remove" }[] {
  checkArgument("versions", versions, "array");
  const past = versions.filter(({ latest }) => !latest);
  return versions.flatMap((version) => {
    const { key, size, tags = [], modified_at: modifiedAt, superseded_at: supersededAt = modifiedAt, latest } = version;
    const place = latest ? { others: past.length } : { others: past.indexOf(version), supersededAt };
    const due = lifecycleDue(
      rules,
      { key, size, tags, modifiedAt, marker: version.delete_marker === true, ...place },
      now,
      dayMs,
    );
    return due === undefined ? [] : [{ version, due }];
  });
}

/**
 * Whether an upload that was not completed is to be given up.
 *
 * @example
 * ```ts
 * import { uploadExpired } from "@seneschal/core/storage";
 * const rule = { id: "r1", enabled: true, filter: {}, form: "filter", expiration: { days: 1 }, abort: 1 } as const;
 * console.log(uploadExpired([rule], { key: "a", started_at: 0 }, 3 * 86_400_000, 86_400_000)); // true
 * ```
 */
export function uploadExpired(
  rules: readonly LifecycleRule[],
  upload: Pick<Upload, "key" | "started_at">,
  now: number,
  dayMs: number,
): boolean {
  checkArgument("rules", rules, "array");
  checkArgument("upload", upload, "object");
  checkArgument("now", now, "number");
  checkArgument("dayMs", dayMs, "number");
  const { key, started_at } = upload;
  return rules.some(
    ({ enabled, abort, filter }) =>
      enabled && abort !== undefined && inFilter(filter, { key, size: 0, tags: [] }) && dueAt(started_at, abort, dayMs) <= now,
  );
}
