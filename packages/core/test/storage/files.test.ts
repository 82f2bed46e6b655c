import { fileCallers, fileSettings, knownFiles } from "@seneschal/core/arbitraries";
import {
  asFileFailure,
  beginsWith,
  checkDirectoryRename,
  checkEmpty,
  checkOutside,
  checkReplaced,
  checkResize,
  checkSameExport,
  checkSettings,
  checkTaken,
  checkTransfer,
  cookieOf,
  entriesBehind,
  exportAt,
  type FileUser,
  fileAttributes,
  inListingOrder,
  isFileName,
  keptAfter,
  keysWithin,
  maxFileSize,
  maxRenamedKeys,
  mayAccess,
  mayTransfer,
  movedKey,
  nextEntries,
  objectError,
  spaceOf,
  squashUser,
  storageError,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const from = { fsid: 1n, uid: 65_534, gid: 65_534, file_mode: 0o644, directory_mode: 0o755 };
const user: fc.Arbitrary<FileUser> = fileCallers;
const kind = fc.constantFrom("file" as const, "directory" as const, "symlink" as const);
const at = fc.nat(5000);
const failure = (work: () => unknown): string => {
  try {
    work();
    return "done";
  } catch (error) {
    return isCoded(error) ? error.code : expect.fail(String(error));
  }
};

describe("who is let to a file", () => {
  test("nobody is root, or of root's group, where root is squashed, and nobody is anybody where all are", () => {
    fc.assert(
      fc.property(user, fc.constantFrom("root" as const, "all" as const), (caller, squash) => {
        const { uid, gid, gids } = squashUser(caller, { squash, anonUid: 65_534, anonGid: 65_534 });
        expect([uid, gid, ...gids]).not.toContain(0);
        if (squash === "all") expect([uid, gid, gids]).toEqual([65_534, 65_534, []]);
        else if (caller.uid !== 0) expect(uid).toBe(caller.uid);
      }),
    );
  });

  test("bytes are of files alone, of those whom the mode lets, and up to the most", () => {
    const end = fc.constantFrom(0, 1, maxFileSize, maxFileSize + 1);
    fc.assert(
      fc.property(user, knownFiles, fc.constantFrom("read" as const, "write" as const), end, (who, file, want, to) => {
        const attributes = fileAttributes(file, from);
        const expected =
          file.kind === "directory"
            ? "EISDIR"
            : file.kind === "symlink"
              ? "EINVAL"
              : !mayTransfer(who, attributes, want)
                ? "EACCES"
                : want === "write" && to > maxFileSize
                  ? "EFBIG"
                  : "done";
        expect(failure(() => checkTransfer(who, attributes, want, to))).toBe(expected);
        const resized =
          file.kind === "directory" ? "EISDIR" : file.kind === "symlink" ? "EINVAL" : to > maxFileSize ? "EFBIG" : "done";
        expect(failure(() => checkResize(file.kind, to))).toBe(resized);
      }),
    );
  });

  test("a name that is taken is left to who does not mind, and to the same exclusive call again; never is what is no file", () => {
    const call = fc.constantFrom(undefined, "a", "b");
    const creation = fc.constantFrom("unchecked" as const, "guarded" as const, "exclusive" as const);
    fc.assert(
      fc.property(kind, call, creation, call, (found, made, how, asked) => {
        const exclusive = how === "exclusive" ? (asked ?? "a") : undefined;
        const may = found === "file" && (how === "unchecked" || (how === "exclusive" && made === exclusive));
        expect(failure(() => checkTaken({ kind: found, exclusive: made }, { kind: how, exclusive }))).toBe(
          may ? "done" : "EEXIST",
        );
      }),
    );
  });

  test("what is replaced by a rename could have been removed, and is a directory where a directory comes", () => {
    fc.assert(
      fc.property(user, kind, knownFiles, knownFiles, (who, source, parent, target) => {
        const directory = { ...fileAttributes(parent, from), kind: "directory" as const };
        const replaced = fileAttributes(target, from);
        const code = failure(() => checkReplaced(who, { kind: source }, directory, replaced));
        if (code !== "done" && code !== "ENOTDIR" && code !== "EISDIR") expect(["EACCES", "EPERM"]).toContain(code);
        if (code === "done") {
          expect((source === "directory") === (replaced.kind === "directory")).toBe(true);
          expect(mayAccess(who, directory, "write") && mayAccess(who, directory, "execute")).toBe(true);
        }
      }),
    );
  });
});

describe("the attributes of a file", () => {
  test("are those that were set, else the export's; a time that was set holds until the content is another", () => {
    fc.assert(
      fc.property(knownFiles, fc.record({ size: fc.nat(99), modifiedAt: at }), (file, written) => {
        const { kept, content } = file;
        const told = fileAttributes(file, from);
        const own = file.kind === "directory" ? 0o755 : file.kind === "symlink" ? 0o777 : 0o644;
        expect([told.mode, told.uid, told.gid]).toEqual([kept.mode ?? own, kept.uid ?? 65_534, kept.gid ?? 65_534]);
        // Two links of a directory would say that there is none in it.
        expect(told.links).toBe(1);
        if (file.kind !== "directory") {
          expect(fileAttributes(file, from, written).size).toBe(written.size);
          const { seconds, nanoseconds } = fileAttributes(file, from, written).modified;
          expect(seconds * 1000 + nanoseconds / 1e6).toBe(written.modifiedAt);
          expect(told.size).toBe(content?.size ?? 0);
        }
      }),
    );
  });

  test("after a change are what was asked for by who may; what was not asked for stays, and a change is later than what was", () => {
    fc.assert(
      fc.property(user, knownFiles, fileSettings, at, (who, file, asked, now) => {
        const before = fileAttributes(file, from);
        if (failure(() => checkSettings(who, before, asked)) !== "done") return;
        const kept = keptAfter(who, file, from, asked, now);
        const after = fileAttributes({ ...file, kept }, from);
        expect(kept.changed_at).toBeGreaterThan(file.kept.changed_at);
        expect([after.uid, after.gid]).toEqual([asked.uid ?? before.uid, asked.gid ?? before.gid]);
        for (const name of ["accessed", "modified"] as const) {
          const set = asked[name];
          if (set === "now") expect(after[name].seconds).toBe(Math.floor(now / 1000));
          else if (set !== undefined) expect(after[name]).toEqual(set);
        }
        // Of a directory, too, whose own time is that of its last change.
        if (asked.modified === undefined) expect(after.modified).toEqual(before.modified);
        if (asked.mode === undefined) expect(after.mode & ~0o6000).toBe(before.mode & ~0o6000);
        else expect(after.mode & 0o5777).toBe(asked.mode & 0o5777);
        // What a later write makes of the content ends the time that was set.
        if (file.content !== undefined) {
          const content = { ...file.content, modified_at: file.content.modified_at + 1 };
          const { seconds, nanoseconds } = fileAttributes({ ...file, kept, content }, from).modified;
          expect(seconds * 1000 + nanoseconds / 1e6).toBe(content.modified_at);
        }
      }),
    );
  });

  test("of a new one are its maker's, in the directory's group where that is set so; only root says which group", () => {
    fc.assert(
      fc.property(user, fileSettings, fc.nat(0o7777), fc.nat(9), (who, asked, mode, gid) => {
        const made = beginsWith(who, { mode, gid }, asked, 0o600);
        expect([made.uid, made.mode]).toEqual([who.uid, asked.mode ?? 0o600]);
        const inherited = (mode & 0o2000) === 0 ? who.gid : gid;
        expect(made.gid).toBe(who.uid === 0 ? (asked.gid ?? inherited) : inherited);
      }),
    );
  });
});

const segment = fc.stringMatching(/^[a-z]{1,3}$/);
const directory = fc.array(segment, { minLength: 1, maxLength: 3 }).map((names) => `${names.join("/")}/`);
const below = fc.array(fc.tuple(fc.array(segment, { maxLength: 2 }), segment), { maxLength: 8 });

describe("a rename of a directory", () => {
  test("moves every key below it, each to another, and the same way back", () => {
    fc.assert(
      fc.property(directory, directory, below, (old, next, paths) => {
        const keys = [...new Set([old, ...paths.map(([way, name]) => `${old}${[...way, name].join("/")}`)])];
        const moved = keys.map((key) => movedKey(key, old, next));
        expect(new Set(moved).size).toBe(keys.length);
        expect(moved.every((key) => key.startsWith(next))).toBe(true);
        expect(moved.map((key) => movedKey(key, next, old))).toEqual(keys);
        const all = keysWithin(old, keys);
        // Each is there with the directories that lead to it.
        for (const key of keys) expect(all).toContain(key);
        for (const key of all) {
          expect(key.startsWith(old)).toBe(true);
          if (key !== old) expect(all.some((other) => other.endsWith("/") && key.startsWith(other) && key !== other)).toBe(true);
        }
        expect(failure(() => checkEmpty(old, keys))).toBe(keys.some((key) => key !== old) ? "ENOTEMPTY" : "done");
        expect(failure(() => checkOutside(old, next))).toBe(next.startsWith(old) ? "EINVAL" : "done");
      }),
    );
  });

  test("ends where a path would be too long, in bytes, and where it is more than one commit takes", () => {
    const long = fc.integer({ min: 1, max: 700 }).chain((n) => fc.constantFrom("a".repeat(n), "ä".repeat(n)));
    fc.assert(
      fc.property(long, long, (name, next) => {
        const bytes = Buffer.byteLength(`${next}/${name}`);
        expect(failure(() => movedKey(`o/${name}`, "o/", `${next}/`))).toBe(bytes > 1024 ? "ENAMETOOLONG" : "done");
      }),
    );
    fc.assert(
      fc.property(fc.boolean(), fc.nat(2 * maxRenamedKeys), fc.boolean(), (versioned, keys, more) => {
        const may = !versioned && !more && keys <= maxRenamedKeys;
        expect(failure(() => checkDirectoryRename(versioned, keys, more))).toBe(may ? "done" : "CrossShardRename");
      }),
    );
    expect([failure(() => checkSameExport(1n, 1n)), failure(() => checkSameExport(1n, 2n))]).toEqual([
      "done",
      "CrossShardRename",
    ]);
  });
});

test("a listing that goes on page by page tells each entry once, in its order, behind the two that every directory has", () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { maxLength: 20 });
  fc.assert(
    fc.property(names, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (all, limits) => {
      const entries = inListingOrder(all.map((name) => ({ name, cookie: cookieOf(name) })));
      const told: string[] = [];
      let after = 0n;
      for (let page = 0; ; page++) {
        const { own, taken, end } = nextEntries(entriesBehind(entries, after), after, limits[page % limits.length] as number);
        const both = [...own, ...taken];
        told.push(...both.map(({ name }) => name));
        after = both.at(-1)?.cookie ?? after;
        if (end) break;
        expect(both.length).toBeGreaterThan(0);
      }
      expect(told).toEqual([".", "..", ...entries.map(({ name }) => name)]);
    }),
  );
});

test("a file system over a bucket has never more than the cluster and the bucket's quota leave, and never less than nothing", () => {
  const bytes = fc.nat(100);
  const quota = fc.record({ max_bytes: bytes, bytes }, { requiredKeys: [] });
  fc.assert(
    fc.property(bytes, bytes, quota, (capacityBytes, usedBytes, limit) => {
      const { total, free } = spaceOf({ capacityBytes, usedBytes }, limit);
      const { max_bytes: most = capacityBytes, bytes: held = usedBytes } = limit;
      expect(total).toBe(Math.min(capacityBytes, most));
      expect(free).toBe(Math.max(0, Math.min(capacityBytes - usedBytes, most - held)));
    }),
  );
});

test("a path leads to the innermost export that it lies in, and what is left of it are names", () => {
  fc.assert(
    fc.property(fc.uniqueArray(directory), fc.array(segment, { minLength: 1, maxLength: 5 }), (paths, names) => {
      const exports = paths.map((path) => ({ path: `/${path.slice(0, -1)}` }));
      const path = `/${names.join("/")}`;
      const found = exportAt(exports, path);
      const around = exports.filter((one) => path === one.path || path.startsWith(`${one.path}/`));
      expect(found === undefined).toBe(around.length === 0);
      if (found === undefined) return;
      expect(Math.max(...around.map((one) => one.path.length))).toBe(found.from.path.length);
      expect([found.from.path, ...found.names].join("/")).toBe(path);
      expect(found.names.every(isFileName)).toBe(true);
    }),
  );
});

test("what objects refuse is told as files refuse it; what the cluster has of its own stays that", () => {
  expect(failure(() => void 0)).toBe("done");
  const told = (error: unknown) => (asFileFailure(error) as { readonly code?: string }).code;
  expect(told(objectError("NoSuchBucket", "gone"))).toBe("ESTALE");
  expect(told(objectError("MethodNotAllowed", "a marker"))).toBe("ENOENT");
  for (const error of [storageError("QuotaExceeded", "full"), new Error("x"), 5, undefined])
    expect(asFileFailure(error)).toBe(error);
});
