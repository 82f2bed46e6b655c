import { openMemoryStore } from "@seneschal/adapters/memory";
import type { DocumentStore } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cachedReader, reader } from "../../src/gateway/ground/store/reader.ts";
import { collection } from "../../src/platform/collection.ts";

interface Note {
  readonly owner: string;
  readonly text: number;
}
const notes = collection<Note>("notes", { by_owner: { key: (note) => [note.owner] } });
const open = (): DocumentStore => openMemoryStore({ collections: { notes: { indexes: notes.indexes } } });

describe("a reader that remembers", () => {
  it("never answers anything else than the store, whatever is written in between", async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("put" as const),
        id: fc.constantFrom("a", "b"),
        owner: fc.constantFrom("x", "y"),
        text: fc.nat(9),
      }),
      fc.record({ kind: fc.constant("del" as const), id: fc.constantFrom("a", "b") }),
      fc.record({ kind: fc.constant("audit" as const) }),
      fc.record({ kind: fc.constant("read" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const store = open();
        const cached = cachedReader(store);
        const direct = reader(store);
        for (const [i, what] of steps.entries()) {
          const commitId = `c${i}`;
          if (what.kind === "put") {
            await store.commit({ commitId, puts: [{ coll: "notes", id: what.id, doc: { owner: what.owner, text: what.text } }] });
          } else if (what.kind === "del") await store.commit({ commitId, dels: [{ coll: "notes", id: what.id }] });
          else if (what.kind === "audit") await store.commit({ commitId, audit: [{ stream: "s", event: {} }] });
          for (const id of ["a", "b"]) expect(await cached.get(notes, id)).toEqual(await direct.get(notes, id));
          for (const owner of ["x", "y"]) {
            expect(await cached.list(notes, "by_owner", [owner])).toEqual(await direct.list(notes, "by_owner", [owner]));
          }
        }
      }),
    );
  });

  it("does not remember what was read before a write and arrived after it", async () => {
    const store = open();
    await store.commit({ commitId: "1", puts: [{ coll: "notes", id: "a", doc: { owner: "x", text: 1 } }] });
    let release = (): void => undefined;
    const slow: DocumentStore = {
      ...store,
      get: async (coll, id) => {
        const early = await store.get(coll, id);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return early;
      },
    };
    const cached = cachedReader(slow);
    const reading = cached.get(notes, "a");
    await Promise.resolve();
    await store.commit({ commitId: "2", puts: [{ coll: "notes", id: "a", doc: { owner: "x", text: 2 } }] });
    cached.forget();
    release();
    expect((await reading)?.text).toBe(1);
    const again = cached.get(notes, "a");
    await Promise.resolve();
    release();
    expect((await again)?.text).toBe(2);
  });

  it("asks once for what many ask for at the same time, and again for what could not be read", async () => {
    const store = open();
    await store.commit({ commitId: "1", puts: [{ coll: "notes", id: "a", doc: { owner: "x", text: 1 } }] });
    let asked = 0;
    const failing: DocumentStore = {
      ...store,
      async list(...args) {
        asked += 1;
        if (asked === 1) throw new Error("away");
        return store.list(...args);
      },
    };
    const cached = cachedReader(failing);
    const many = () => Promise.allSettled(Array.from({ length: 64 }, () => cached.list(notes, "by_owner", ["x"])));
    expect((await many()).every(({ status }) => status === "rejected")).toBe(true);
    expect(asked).toBe(1);
    expect(await many()).toEqual(Array.from({ length: 64 }, () => ({ status: "fulfilled", value: [{ owner: "x", text: 1 }] })));
    expect(asked).toBe(2);
  });

  it("remembers nothing over a store that others write to", async () => {
    const store = open();
    const shared: DocumentStore = {
      ...store,
      capabilities: { durable: true, multiProcess: true, subscribe: "push" },
      subscribe: () => () => undefined,
    };
    const cached = cachedReader(shared);
    expect(await cached.get(notes, "a")).toBeUndefined();
    await store.commit({ commitId: "1", puts: [{ coll: "notes", id: "a", doc: { owner: "x", text: 1 } }] });
    expect((await cached.get(notes, "a"))?.text).toBe(1);
  });
});
