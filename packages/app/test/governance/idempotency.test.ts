import { generateKeyPairSync, sign } from "node:crypto";
import { seededRandom } from "@seneschal/adapters/memory";
import { afterEach, describe, expect, test } from "vitest";
import { answerSealer } from "../../src/governance/seal-answers.ts";
import { type Rig, servers, startRig } from "./rig.ts";

describe.each(servers)("repeated writes on %s", (_, serve) => {
  let rig: Rig;
  afterEach(() => rig.stop());

  test("a key is created or rotated once under one Idempotency-Key, and its secret is not in the store, not even sealed", async () => {
    rig = await startRig(serve);
    const sealed = async () => {
      const { items } = await rig.store.list("idempotency", "expires", [], { limit: 10 });
      return items.map(({ doc }) => doc["answer"]);
    };
    const create = (name: string) =>
      rig.call("admin", "POST", "/api/v1/api-keys", { name, scopes: ["classify"] }, { "idempotency-key": "once" });
    const first = await create("a");
    expect(first.status).toBe(201);
    const rotate = () =>
      rig.call("admin", "POST", `/api/v1/api-keys/${first.body.id}/rotate`, undefined, { "idempotency-key": "once" });
    expect((await rotate()).status).toBe(200);
    for (const again of [await create("a"), await rotate()])
      expect([again.status, again.body.error.code]).toEqual([409, "REPLY_NOT_KEPT"]);
    expect((await rig.call("admin", "GET", "/api/v1/api-keys")).body.total).toBe(1);
    expect((await create("b")).body.error.code).toBe("IDEMPOTENCY_MISMATCH");
    expect(await sealed()).toEqual([null, null]);
  });

  test("a lineage event sent twice under one key is taken once, another caller's key is another", async () => {
    rig = await startRig(serve);
    const event = { eventType: "COMPLETE", eventTime: "2026-02-01T00:00:00Z", run: { runId: "r" }, job: { name: "j" } };
    const send = (who: "writer" | "admin") => rig.call(who, "POST", "/api/v1/lineage", event, { "idempotency-key": "k" });
    const first = await send("writer");
    expect((await send("writer")).body).toEqual(first.body);
    const taken = async () => (await rig.store.list("audit", "by_time", ["default"], { limit: 10 })).items.length;
    expect(await taken()).toBe(1);
    await send("admin");
    expect(await taken()).toBe(2);
  });

  test("a key that no header can hold is refused by name", async () => {
    rig = await startRig(serve);
    const answer = await rig.call("admin", "POST", "/api/v1/lineage", {}, { "idempotency-key": "x".repeat(300) });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain("headers.idempotency-key");
  });
});

describe("answers that are kept", () => {
  const signer = () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    return (message: Uint8Array) => sign(null, message, privateKey);
  };
  const text = Buffer.from("secret");
  const aad = Buffer.from("id");

  test("are opened after a restart with the same signing key, and only for the record they were sealed for", async () => {
    const own = signer();
    const sealed = await (await answerSealer(own, seededRandom(1))).seal(text, aad);
    const again = await answerSealer(own, seededRandom(2));
    expect(Buffer.from(await again.open(sealed, aad))).toEqual(text);
    await expect(again.open(sealed, Buffer.from("other"))).rejects.toMatchObject({ code: "idempotency_conflict" });
  });

  test("of another instance are a conflict", async () => {
    const sealed = await (await answerSealer(signer(), seededRandom(1))).seal(text, aad);
    await expect((await answerSealer(signer(), seededRandom(1))).open(sealed, aad)).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
  });
});
