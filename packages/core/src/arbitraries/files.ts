import fc from "fast-check";
import type { FileSettings, FileTime, FileUser, KnownFile } from "../storage/index.ts";

const id = fc.constantFrom(0, 1, 2, 3, 1000);
const mode = fc.nat(0o7777);
const time: fc.Arbitrary<FileTime> = fc.record({ seconds: fc.nat(9), nanoseconds: fc.nat(999_999_999) });
const set = time.map(({ seconds, nanoseconds }) => [seconds, nanoseconds] as const);

/** Users of clients, root among them. */
export const fileCallers: fc.Arbitrary<FileUser> = fc.record({ uid: id, gid: id, gids: fc.array(id, { maxLength: 3 }) });

/** Anything that may be set of a file, but for its size. */
export const fileSettings: fc.Arbitrary<FileSettings> = fc.record(
  {
    mode,
    uid: id,
    gid: id,
    accessed: fc.oneof(fc.constant("now" as const), time),
    modified: fc.oneof(fc.constant("now" as const), time),
  },
  { requiredKeys: [] },
);

const content = fc.record({ size: fc.nat(99), modified_at: fc.nat(5000), etag: fc.constantFrom("a", "b") });
const kept = fc.record({ mode, uid: id, gid: id, accessed: set, changed_at: fc.nat(5000) }, { requiredKeys: ["changed_at"] });

/** Files of every kind, as an export may come to know them: with times that a client set of this content, and of another. */
export const knownFiles: fc.Arbitrary<KnownFile> = fc
  .record({
    kind: fc.constantFrom("file" as const, "directory" as const, "symlink" as const),
    kept,
    content,
    modified: fc.option(fc.record({ at: set, same: fc.boolean() }), { nil: undefined }),
  })
  .map(({ kind, kept: own, content: bytes, modified }) => {
    const of = kind === "directory" ? String(own.changed_at) : `${bytes.modified_at} ${bytes.etag}`;
    const time = modified && { modified: { at: modified.at, of: modified.same ? of : "other" } };
    return { kind, fileId: 7n, kept: { ...own, ...time }, ...(kind !== "directory" && { content: bytes }) };
  });
