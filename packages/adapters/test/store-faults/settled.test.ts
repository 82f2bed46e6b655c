import { openMemoryStore } from "@seneschal/adapters/memory";
import { isCoded } from "@seneschal/kernel";
import { settled } from "@seneschal/kernel/store";
import { type CommitFault, chaosStore } from "@seneschal/kernel/testing";
import fc from "fast-check";
import { expect, test } from "vitest";

const schema = { collections: { notes: { indexes: {} } } };
const faults: readonly CommitFault[] = ["none", "request_dropped", "reply_dropped", "delayed", "unreachable"];

test("a commit that may stand is never said to have failed, whatever its repeats met, and one that is answered is applied once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...faults), { maxLength: 5 }), async (drawn) => {
      const memory = openMemoryStore(schema);
      const left = [...drawn];
      const met: CommitFault[] = [];
      const pick = (): CommitFault => {
        const fault = left.shift() ?? "none";
        met.push(fault);
        return fault;
      };
      const store = settled(chaosStore(memory, pick));
      const draft = { commitId: "c", puts: [{ coll: "notes", id: "n", doc: {}, ifVersion: 0 }] };
      const failure = await store.commit(draft).then(
        ({ ok }) => (ok ? undefined : "conflict"),
        (error: unknown) => error,
      );
      const sent = met.some((fault) => fault !== "unreachable");
      if (failure === undefined) expect(met.at(-1)).toBe("none");
      else expect(isCoded(failure, sent ? "outcome_unknown" : "store_unavailable")).toBe(true);
      // The next answer ends it: the same commit, or one that finds it there.
      expect((await store.commit(draft).catch(() => memory.commit(draft))).ok).toBe(true);
      expect((await memory.changes(0, 10)).length).toBe(1);
    }),
  );
});
