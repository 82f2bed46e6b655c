import {
  type Bucket,
  childKey,
  directoryObject,
  directoryType,
  keysWithin,
  kindOfObject,
  madeOf,
  moveDirectory,
  type ObjectVersion,
  parentKey,
  symlinkType,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";
import { objectVersions } from "../../src/arbitraries/index.ts";

const name = fc.constantFrom("a", "b", "c");
const path = fc.array(name, { maxLength: 3 });

/** A tree as one draws it: names lead to a number, the bytes of a file, or to a directory. */
type Tree = Map<string, Tree | number>;
const directoryAt = (root: Tree, names: readonly string[]): Tree | undefined =>
  names.reduce<Tree | number | undefined>((at, one) => (at instanceof Map ? at.get(one) : undefined), root) as Tree | undefined;
/** The keys of a tree, with the object of each directory. */
function keysOf(tree: Tree, prefix = ""): readonly (readonly [string, number])[] {
  return [...tree].flatMap(([one, node]): readonly (readonly [string, number])[] =>
    node instanceof Map ? [[`${prefix}${one}/`, 0], ...keysOf(node, `${prefix}${one}/`)] : [[`${prefix}${one}`, node]],
  );
}

test("whatever is made and renamed, the keys of a bucket are those of the tree that one draws, and what is kept of files goes with them", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constantFrom("file" as const, "directory" as const), at: path, name }),
    fc.record({ do: fc.constant("rename" as const), from: path.filter((all) => all.length > 0), at: path, name }),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 30 }), (history) => {
      const tree: Tree = new Map();
      let objects: readonly { readonly key: string; readonly bytes: number }[] = [];
      let records: readonly { readonly key: string; readonly file: number; readonly changed_at: number }[] = [];
      let now = 0;
      for (const s of history) {
        now += 1;
        const into = directoryAt(tree, s.at);
        if (!(into instanceof Map) || into.has(s.name)) continue;
        const above = s.at.map((one) => `${one}/`).join("");
        if (s.do !== "rename") {
          const key = childKey(above, s.name, s.do);
          into.set(s.name, s.do === "file" ? now : new Map());
          objects = [...objects, { key, bytes: s.do === "file" ? now : 0 }];
          records = [...records, { key, file: now, changed_at: now }];
          continue;
        }
        const [last = "", above2] = [s.from.at(-1), directoryAt(tree, s.from.slice(0, -1))];
        const node = above2 instanceof Map ? above2.get(last) : undefined;
        const [from, to] = [s.from.map((one) => `${one}/`).join(""), `${above}${s.name}/`];
        if (!(above2 instanceof Map) || !(node instanceof Map) || to.startsWith(from)) continue;
        above2.delete(last);
        into.set(s.name, node);
        const inside = objects.filter(({ key }) => key.startsWith(from));
        const within = keysWithin(
          from,
          inside.map(({ key }) => key),
        );
        const known = records.filter(({ key }) => within.includes(key));
        const moves = moveDirectory(from, to, inside, known, now);
        expect(moves.objects.map((move) => move.from)).toEqual(inside);
        for (const { from: was, to: is } of moves.records) {
          expect(is.file).toBe(was.file);
          // A rename is seen at the directory that is renamed, at nothing in it.
          expect(is.changed_at > was.changed_at).toBe(was.key === from);
        }
        const back = moveDirectory(
          to,
          from,
          moves.objects.map((move) => move.to),
          [],
          now,
        );
        expect(back.objects.map((move) => move.to)).toEqual(inside);
        objects = [...objects.filter((one) => !inside.includes(one)), ...moves.objects.map((move) => move.to)];
        records = [...records.filter((one) => !known.includes(one)), ...moves.records.map((move) => move.to)];
      }
      expect(new Map(objects.map(({ key, bytes }) => [key, bytes]))).toEqual(new Map(keysOf(tree)));
      expect(records.map(({ key }) => key).sort()).toEqual(
        keysOf(tree)
          .map(([key]) => key)
          .sort(),
      );
      expect(new Set(records.map(({ file }) => file)).size).toBe(records.length);
    }),
  );
});

test("a directory stays when its last entry goes, whether it had an object, one that was deleted, or none; the root needs none", () => {
  const bucket: Bucket = { name: "docs", tenant: "acme", created_at: 0, region: "", deleting: false };
  const entries = fc.array(fc.tuple(path, name), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(entries, fc.array(fc.nat(99), { maxLength: 12, size: "max" }), fc.boolean(), (made, removed, markers) => {
      const objects = new Map<string, Pick<ObjectVersion, "delete_marker">>();
      // As by S3: no directory has an object of its own.
      for (const [at, one] of made) objects.set([...at, one].join("/"), {});
      for (const index of removed) {
        const there = [...objects].filter(([, { delete_marker: gone }]) => gone !== true).map(([one]) => one);
        const key = there[index % Math.max(1, there.length)];
        if (key === undefined) continue;
        if (key.endsWith("/")) {
          // As by S3, which knows no directories.
          if (markers) objects.set(key, { delete_marker: true });
          else objects.delete(key);
          continue;
        }
        const above = parentKey(key);
        const own = directoryObject(bucket, above, objects.get(above), 5);
        if (own !== undefined) objects.set(above, own);
        if (markers) objects.set(key, { delete_marker: true });
        else objects.delete(key);
        const left = [...objects].filter(([one, { delete_marker: gone }]) => one.startsWith(above) && !gone);
        expect(left.length > 0 || above === "").toBe(true);
        expect(own?.key ?? above).toBe(above);
        if (above === "") expect(own).toBeUndefined();
        // Where it has one it gets no other.
        if (own !== undefined) expect(directoryObject(bucket, above, own, 6)).toBeUndefined();
      }
    }),
  );
});

test("an object is a file, a symbolic link by its media type, and nothing once it is deleted", () => {
  const type = fc.constantFrom("", "text/plain", symlinkType, directoryType);
  fc.assert(
    fc.property(type, fc.boolean(), (content_type, delete_marker) => {
      const kind = delete_marker ? undefined : content_type === symlinkType ? "symlink" : "file";
      expect(kindOfObject({ content_type, delete_marker })).toBe(kind);
    }),
  );
});

test("a version that is made of another has its description, and neither its name, its place nor what holds it", () => {
  const start = 1000;
  fc.assert(
    fc.property(objectVersions(start), (version) => {
      const named = { ...version, version_id: "null", ordinal: start, superseded_at: start };
      const made = madeOf(named);
      for (const own of ["version_id", "ordinal", "superseded_at", "retention", "legal_hold"])
        expect(made).not.toHaveProperty(own);
      const { retention: _, legal_hold: __, ...described } = version;
      expect(made).toEqual(described);
    }),
  );
});
