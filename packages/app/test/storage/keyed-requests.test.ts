import { type Contract, secretFields } from "@seneschal/contract";
import { storageContract, storageInfo } from "@seneschal/contract/storage";
import { serve } from "@seneschal/server-express";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shownBodies } from "../platform/longest-texts.ts";
import { type Answer, type Harness, startStorage } from "./harness.ts";

const posts = Object.entries(storageContract as Contract).filter(
  ([, { method, auth }]) => method === "POST" && auth === "principal",
);
const shown = shownBodies(storageContract, { ...storageInfo, version: "test" });
/** What the shown bodies name is not there; these are. */
const bodies: Readonly<Record<string, unknown>> = {
  createTenant: { tenant_id: "beta" },
  createPool: { pool_id: "slow", class: "hdd" },
  startScrub: { device: "d0" },
  setMaintenance: { enabled: false },
};
const ids: Readonly<Record<string, string>> = {
  device_id: "d6",
  pool_id: "fast",
  node_id: "node-1",
  tenant_id: "alpha",
  job_id: "j",
};

describe("a POST of the admin interface with an Idempotency-Key", () => {
  let h: Harness;
  beforeAll(async () => {
    h = await startStorage(serve);
    await h.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "alpha" });
  });
  afterAll(() => h.stop());

  /** Every call of an operation is one such event, whatever became of it. */
  const operations = async () =>
    (await h.store.auditRead(0, 10_000)).filter(({ event }) => String(event["action"]).startsWith("op.")).length;

  test.each(posts)("%s is carried out once, of any number of equal ones, and answers a repeat the same", async (id, route) => {
    const path = route.path.replace(/:([a-z_]+)/g, (_, name: string) => ids[name] as string);
    const body = route.body === undefined ? undefined : (bodies[id] ?? shown(id));
    const ask = (more = "") =>
      h.call("root", "POST", path, body === undefined ? undefined : JSON.stringify(body) + more, {
        "idempotency-key": `once-${id}`,
      });
    const before = await operations();
    const answers = await Promise.all([ask(), ask(), ask(), ask()]);
    answers.push(await ask());
    await h.storage.node.jobs.drain();
    expect((await operations()) - before, JSON.stringify(answers.map(({ text }) => text))).toBe(1);
    const waits = ({ status, body }: Answer) => status === 409 && body.error.message.includes("idempotency key");
    const told = answers.filter((answer) => !waits(answer));
    const secret = secretFields(route.reply).length > 0;
    const again = told.filter(({ body }) => body.error?.code === "REPLY_NOT_KEPT").length;
    expect(again > 0).toBe(secret);
    expect(new Set(told.filter(({ body }) => body.error?.code !== "REPLY_NOT_KEPT").map(({ text }) => text)).size).toBe(1);
    if (body === undefined || told[0]?.status === 400) return;
    expect((await ask(" ")).body.error.code).toBe("IDEMPOTENCY_MISMATCH");
  });

  test("is the caller's: the same key of somebody else is another", async () => {
    const ask = (who: "root" | "incident") =>
      h.call(who, "POST", "/ui/api/ops/scrub", { device: "d1" }, { "idempotency-key": "shared" });
    const mine = await ask("root");
    await h.storage.node.jobs.drain();
    expect((await ask("incident")).body.job_id).not.toBe(mine.body.job_id);
    await h.storage.node.jobs.drain();
    expect((await ask("root")).text).toBe(mine.text);
  });

  test("whose outcome nobody knows is not done again", async () => {
    const { store } = h;
    const { commit } = store;
    const ask = () => h.call("root", "POST", "/ui/api/ops/tenants/alpha/credentials", {}, { "idempotency-key": "half" });
    const count = () => store.count("storage_credentials", "by_tenant", ["alpha"]);
    const before = await count();
    // The key is made, and the record of the call is lost.
    Object.assign(store, {
      commit: (draft: Parameters<typeof commit>[0]) =>
        draft.audit?.some(({ event }) => event["action"] === "op.create_credential")
          ? Promise.reject(new Error("gone"))
          : commit(draft),
    });
    expect((await ask()).status).toBe(503);
    Object.assign(store, { commit });
    expect((await ask()).body.error.code).toBe("CONFLICT");
    expect((await count()) - before).toBe(1);
  });
});
