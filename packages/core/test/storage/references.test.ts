import {
  type Body,
  type ChunkRef,
  keepChunks,
  type Mentions,
  mentionsOf,
  referencedBy,
  type Trash,
  trashOf,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";

const ref = (id: string): ChunkRef => ({ id, size: 1, key: "" });
const chunks = fc.array(fc.constantFrom("a", "b", "c", "d").map(ref), { maxLength: 5 });
const body: fc.Arbitrary<Body> = fc.oneof(
  { weight: 6, arbitrary: chunks.map((refs) => ({ kind: "chunks" as const, chunks: refs })) },
  fc.constant<Body>({ kind: "none" }),
  fc.constant<Body>({ kind: "inline", id: "a", key: "", epoch: 1, nonce: "", sealed: "" }),
);
const index = fc.nat(9);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("put" as const), body }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      index,
      keep: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
      fresh: chunks,
      versioned: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("copy" as const, "delete" as const, "collect" as const), index }) },
);
const refsOf = (of: Body | Trash): readonly ChunkRef[] => (of.kind === "chunks" ? of.chunks : []);

test("whatever is put, changed in part, copied, deleted and collected: a chunk has as many references as it is mentioned, and none is collected that is mentioned", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (history) => {
      const records = new Map<string, { readonly refs: number }>();
      const objects: Body[] = [];
      const trash: Trash[] = [];
      const move = (mentions: Mentions, sign: 1 | -1) => {
        for (const [id, n] of mentions) {
          const moved = referencedBy(records.get(id), id, sign * n);
          if (moved !== undefined) records.set(id, moved);
        }
      };
      /** As a writer takes its references: a chunk that is not there is written. */
      const store = (refs: readonly ChunkRef[]) => {
        for (const { id } of refs) if (!records.has(id)) records.set(id, { refs: 0 });
        move(mentionsOf(refs), 1);
      };
      for (const s of history) {
        if (s.do === "put") {
          store(refsOf(s.body));
          objects.push(s.body);
          continue;
        }
        const at = s.index % Math.max(1, objects.length);
        const found = objects[at];
        if (s.do === "collect") {
          const [taken] = trash.splice(s.index % Math.max(1, trash.length), 1);
          if (taken !== undefined) move(mentionsOf(refsOf(taken)), -1);
          for (const [id, { refs }] of records) if (refs === 0) records.delete(id);
        } else if (found !== undefined && s.do === "copy") {
          move(mentionsOf(refsOf(found)), 1);
          objects.push(found);
        } else if (found !== undefined && s.do === "delete") {
          objects.splice(at, 1);
          trash.push(...[trashOf(found)].filter((one) => one !== undefined));
        } else if (found !== undefined && s.do === "change") {
          const kept = refsOf(found).filter((_, i) => s.keep[i]);
          const thrown = s.versioned ? undefined : trashOf(found);
          const after = keepChunks(found, mentionsOf(kept), thrown !== undefined);
          store(s.fresh);
          move(after.more, 1);
          if (!s.versioned) objects.splice(at, 1);
          if (thrown !== undefined) trash.push(after.trash ?? thrown);
          objects.push({ kind: "chunks", chunks: [...kept, ...s.fresh] });
        }
        const mentioned = mentionsOf([...objects, ...trash].flatMap(refsOf));
        for (const [id, n] of mentioned) expect(records.get(id)?.refs).toBe(n);
        for (const [id, { refs }] of records) expect(refs).toBe(mentioned.get(id) ?? 0);
      }
    }),
  );
});

test("what is gone cannot be mentioned again, and is mentioned less without a word", () => {
  expect(referencedBy(undefined, "a", -1)).toBeUndefined();
  let code = "";
  try {
    referencedBy(undefined, "a", 1);
  } catch (error) {
    if (isCoded(error)) code = error.code;
  }
  expect(code).toBe("ChunkLost");
});
