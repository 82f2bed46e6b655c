import { openMemoryStore, seededRandom } from "@seneschal/adapters/memory";
import type { IdempotentRequest, StoredResponse } from "@seneschal/contract";
import { CodedError } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idempotencyCollections, type Sealer, storeIdempotency } from "../../src/platform/index.ts";

const DAY = 24 * 3_600_000;
const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const asked: IdempotentRequest = {
  principal: "o/user/ada",
  routeId: "create",
  key: "k1",
  path: "/w",
  body: bytes("{}"),
  now: 1000,
};
const answer = (text: string): StoredResponse => ({ status: 201, headers: { etag: '"v1"' }, body: bytes(text) });

/** Reverses the text; enough to tell sealed from plain. */
const sealer: Sealer = {
  seal: async (plain, aad) => `${Buffer.from(aad).toString("hex")}.${Buffer.from(plain).reverse().toString("base64")}`,
  open: async (sealed, aad) => {
    const [bound, text = ""] = sealed.split(".");
    if (bound !== Buffer.from(aad).toString("hex")) throw new Error("bound to another record");
    return Buffer.from(text, "base64").reverse();
  },
};

function world(over: Partial<Sealer> = {}) {
  const store = openMemoryStore({ collections: idempotencyCollections });
  const lost: unknown[] = [];
  const options = { store, sealer: { ...sealer, ...over }, random: seededRandom(1), onLost: (e: unknown) => lost.push(e) };
  let runs = 0;
  const work = async () => answer(`run ${++runs}`);
  return { store, lost, work, runs: () => runs, idempotency: storeIdempotency(options) };
}

const text = (response: StoredResponse) => Buffer.from(response.body).toString();

describe("idempotency keys", () => {
  test("the same key and request give the same answer, and the work is done once", async () => {
    const { idempotency, work, runs } = world();
    const first = await idempotency.run(asked, work);
    const second = await idempotency.run({ ...asked, now: 2000 }, work);
    expect(second).toEqual(first);
    expect(text(second)).toBe("run 1");
    expect(runs()).toBe(1);
  });

  test.each([
    ["another body", { body: bytes("{ }") }],
    ["another path", { path: "/w2" }],
  ])("the same key with %s is a mismatch", async (_, other) => {
    const { idempotency, work, runs } = world();
    await idempotency.run(asked, work);
    await expect(idempotency.run({ ...asked, ...other }, work)).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(runs()).toBe(1);
  });

  test.each([
    ["principals", { principal: "o/user/eve" }],
    ["routes", { routeId: "other" }],
    ["keys", { key: "k2" }],
  ])("%s do not share answers", async (_, other) => {
    const { idempotency, work } = world();
    await idempotency.run(asked, work);
    expect(text(await idempotency.run({ ...asked, ...other }, work))).toBe("run 2");
  });

  test("parts of the key cannot be shifted into one another", async () => {
    const { idempotency, work } = world();
    await idempotency.run({ ...asked, routeId: "ab", key: "c" }, work);
    expect(text(await idempotency.run({ ...asked, routeId: "a", key: "bc" }, work))).toBe("run 2");
  });

  test("two at once do the work once: the other one is a conflict", async () => {
    const { idempotency, work, runs } = world();
    const results = await Promise.allSettled([idempotency.run(asked, work), idempotency.run(asked, work)]);
    expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(results.find((result) => result.status === "rejected")?.reason).toMatchObject({ code: "idempotency_conflict" });
    expect(runs()).toBe(1);
  });

  test("work that throws is forgotten, so that it can be tried again", async () => {
    const { idempotency, work } = world();
    await expect(idempotency.run(asked, () => Promise.reject(new Error("down")))).rejects.toThrow("down");
    expect(text(await idempotency.run(asked, work))).toBe("run 1");
  });

  test("work whose process died is not done again", async () => {
    const { store, idempotency, work, runs } = world();
    void storeIdempotency({ store, sealer, random: seededRandom(2), onLost: () => {} }).run(asked, () => new Promise(() => {}));
    await expect(idempotency.run(asked, work)).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(runs()).toBe(0);
  });

  test("nothing of the answer or the request is stored in clear", async () => {
    const { store, idempotency } = world();
    await idempotency.run({ ...asked, body: bytes("hunter2-asked") }, async () => answer("hunter2-answer"));
    const { items } = await store.list("idempotency", "expires", [], { limit: 10 });
    expect(items).toHaveLength(1);
    const stored = JSON.stringify(items);
    for (const plain of ["hunter2", Buffer.from("hunter2-answer").toString("base64"), "ada", "create", "k1"]) {
      expect(stored).not.toContain(plain);
    }
  });

  test("an answer that cannot be sealed still reaches its caller, and is not done twice", async () => {
    const { idempotency, work, lost, runs } = world({ seal: () => Promise.reject(new Error("vault is sealed")) });
    expect(text(await idempotency.run(asked, work))).toBe("run 1");
    expect(lost).toHaveLength(1);
    await expect(idempotency.run(asked, work)).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(runs()).toBe(1);
  });

  test("an answer beyond a document's size is given, not kept", async () => {
    const { idempotency, work } = world();
    const large = await idempotency.run(asked, async () => answer("x".repeat(1_000_000)));
    expect(large.body.length).toBe(1_000_000);
    await expect(idempotency.run(asked, work)).rejects.toMatchObject({ code: "idempotency_conflict" });
  });

  test("after a day a key is free again, and old records are removed", async () => {
    const { store, idempotency, work } = world();
    for (const key of ["a", "b", "c"]) await idempotency.run({ ...asked, key }, work);
    expect(text(await idempotency.run({ ...asked, key: "a", now: asked.now + DAY }, work))).toBe("run 4");
    expect(await store.count("idempotency", "expires", [])).toBe(1);
  });

  test("what an answer shows once is kept nowhere, and a repeat is told so", async () => {
    const { store, idempotency, runs } = world();
    const shown = async () => ({ ...answer("hunter2"), secret: true });
    expect(text(await idempotency.run(asked, shown))).toBe("hunter2");
    await expect(idempotency.run({ ...asked, now: 2000 }, shown)).rejects.toMatchObject({ code: "reply_not_kept" });
    const other = { ...asked, body: bytes("{ }") };
    await expect(idempotency.run(other, shown)).rejects.toMatchObject({ code: "idempotency_mismatch" });
    expect(runs()).toBe(0);
    const { items } = await store.list("idempotency", "expires", [], { limit: 10 });
    expect(items.map(({ doc }) => doc["answer"])).toEqual([null]);
  });

  test("work of which nobody knows whether it was done is not done again", async () => {
    const { idempotency, work, runs } = world();
    const unknown = () => Promise.reject(new CodedError("outcome_unknown", "the connection was lost"));
    await expect(idempotency.run(asked, unknown)).rejects.toMatchObject({ code: "outcome_unknown" });
    await expect(idempotency.run(asked, work)).rejects.toMatchObject({ code: "idempotency_conflict" });
    expect(runs()).toBe(0);
  });

  test("one key, one work, in every order that equal requests on several processes can take, and its answer is the one that is kept", () =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 2, max: 5 }),
        fc.constantFrom("none", "expired", "others expired"),
        fc.array(fc.constantFrom("get", "list", "commit"), { maxLength: 4 }),
        async (scheduler, requests, before, lost) => {
          const inner = openMemoryStore({ collections: idempotencyCollections });
          const replies = [...lost];
          const work = scheduler.scheduleFunction(async (n: number) => answer(`run ${n}`));
          const options = { sealer, onLost: () => {} };
          const first = storeIdempotency({ ...options, store: inner, random: seededRandom(1) });
          const old = { ...asked, now: asked.now - DAY };
          if (before !== "none") await first.run({ ...old, key: before === "expired" ? "k1" : "k2" }, async () => answer("old"));

          const store: DocumentStore = {
            ...inner,
            get: scheduler.scheduleFunction((...args) => inner.get(...args)),
            list: scheduler.scheduleFunction((...args) => inner.list(...args)),
            commit: scheduler.scheduleFunction(async (commit) => {
              const result = await inner.commit(commit);
              // The connection breaks behind the commit.
              if (replies.shift() === "commit") throw new CodedError("outcome_unknown", "lost");
              return result;
            }),
          };
          let runs = 0;
          const processes = [2, 3].map((seed) => storeIdempotency({ ...options, store, random: seededRandom(seed) }));
          const results = Promise.allSettled(
            Array.from({ length: requests }, (_, i) =>
              (processes[i % 2] as (typeof processes)[0]).run(asked, () => {
                runs += 1;
                return work(runs);
              }),
            ),
          );
          await scheduler.waitFor(results);
          expect(runs).toBeLessThanOrEqual(1);
          const answered = (await results).flatMap((result) => (result.status === "fulfilled" ? [text(result.value)] : []));
          for (const given of answered) expect(given).toBe("run 1");
          for (const result of await results)
            if (result.status === "rejected") expect(["idempotency_conflict", "outcome_unknown"]).toContain(result.reason.code);
          if (lost.includes("commit")) return;
          expect(answered.length).toBeGreaterThan(0);
          expect(text(await first.run({ ...asked, now: 5000 }, () => Promise.reject(new Error("done twice"))))).toBe("run 1");
        },
      ),
    ));
});
