import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRig, type Rig } from "./rig.ts";

/** Few names and values, so that neighbours often have the same context, or the same in another order. */
const contexts = fc.uniqueArray(
  fc.tuple(fc.constantFrom("purpose", "file", "constructor", "1", "2"), fc.constantFrom("a", "b")),
  {
    selector: ([name]) => name,
    maxLength: 3,
  },
);
const items = fc.array(
  fc.record({
    plaintext: fc.uint8Array({ minLength: 1, maxLength: 40 }),
    context: contexts.map((pairs) => Object.fromEntries(pairs)),
  }),
  { minLength: 1, maxLength: 12 },
);

describe("batches of workspace data", () => {
  let rig: Rig;
  let url: string;
  beforeAll(async () => {
    rig = await openRig({ organizations: ["acme"] });
    const { body } = await rig.admin("acme")("POST", "/api/v1/workspaces", { name: "batches" });
    url = `/api/v1/workspaces/${body.id}`;
  });
  afterAll(() => rig.close());

  it("each item is bound to its own context, whatever its neighbours have, and opens alone", async () => {
    const call = rig.admin("acme");
    await fc.assert(
      fc.asyncProperty(items, async (list) => {
        const asked = list.map(({ plaintext, context }) => ({ plaintext: Buffer.from(plaintext).toString("base64"), context }));
        const sealed = await call("POST", `${url}/encrypt-batch`, { items: asked });
        expect([sealed.status, sealed.body.count]).toEqual([200, list.length]);
        const ciphertexts = (sealed.body.items as { readonly ciphertext: string }[]).map(({ ciphertext }) => ciphertext);
        for (const [i, { plaintext, context }] of asked.entries()) {
          const opened = await call("POST", `${url}/decrypt`, { ciphertext: ciphertexts[i], context });
          expect(opened.body).toEqual({ plaintext });
        }
        const back = asked.map(({ context }, i) => ({ ciphertext: ciphertexts[i], context })).reverse();
        const opened = await call("POST", `${url}/decrypt-batch`, { items: back });
        expect(opened.body.items).toEqual(asked.map(({ plaintext }) => ({ plaintext })).reverse());
      }),
      { numRuns: 15 },
    );
  });

  it("one item that does not open fails the whole batch, and nothing of the others comes back", async () => {
    const call = rig.admin("acme");
    const context = { purpose: "a" };
    const asked = ["AAAA", "BBBB"].map((plaintext) => ({ plaintext, context }));
    const { body } = await call("POST", `${url}/encrypt-batch`, { items: asked });
    const [first, second] = body.items as { readonly ciphertext: string }[];
    const mixed = [
      { ciphertext: first?.ciphertext, context },
      { ciphertext: second?.ciphertext, context: { purpose: "b" } },
    ];
    const answer = await call("POST", `${url}/decrypt-batch`, { items: mixed });
    expect([answer.status, answer.body.error.code]).toEqual([400, "DECRYPTION_FAILED"]);
    expect(answer.text).not.toContain("AAAA");
  });

  it("a hundred items are taken, one more is refused by name", async () => {
    const call = rig.admin("acme");
    const many = (count: number) => ({ items: Array.from({ length: count }, () => ({ plaintext: "AAAA" })) });
    expect((await call("POST", `${url}/encrypt-batch`, many(100))).body.count).toBe(100);
    const { status, text } = await call("POST", `${url}/encrypt-batch`, many(101));
    expect([status, text.includes("body.items")]).toEqual([400, true]);
  });
});
