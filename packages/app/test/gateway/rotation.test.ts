import { openMemoryStore } from "@seneschal/adapters/memory";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewaySchema } from "../../src/gateway/index.ts";
import { type Answer, openRig, type Rig } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

const hour = 3_600_000;
const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];

describe("rotation policies", () => {
  let rig: Rig;
  let key: RootKey;
  beforeAll(async () => {
    rig = await openRig();
    key = await rootKey(rig.admin("acme"));
  });
  afterAll(() => rig.close());

  let made = 0;
  const workspace = async (): Promise<string> => {
    const { body } = await rig.admin("acme")("POST", "/api/v1/workspaces", { name: `rotating ${++made}` });
    return body.id;
  };
  const policy = (id: string): string => `/api/v1/workspaces/${id}/rotation-policy`;
  const version = async (id: string): Promise<number> =>
    (await rig.admin("acme")("GET", `/api/v1/workspaces/${id}`)).body.dek_version;
  const after = (ms: number): Promise<number> => {
    rig.clock.set(rig.clock.now() + ms);
    return rig.gateway.rotation.run(rig.clock.now());
  };

  it("is set, read, listed and removed; there is none before and after", async () => {
    const acme = rig.admin("acme");
    const id = await workspace();
    expect(told(await acme("GET", policy(id)))).toEqual([404, "NOT_FOUND"]);
    const set = await acme("PUT", policy(id), { max_age: "30d" });
    expect(set.body, set.text).toMatchObject({ workspace_id: id, max_age: "720h", enabled: true });
    expect(Date.parse(set.body.next_rotation_at) - Date.parse(set.body.last_rotated_at)).toBe(720 * hour);
    const again = await acme("PUT", policy(id), { max_age: "24h", enabled: false });
    expect(again.body).toMatchObject({ id: set.body.id, max_age: "24h", next_rotation_at: null });
    expect((await acme("GET", "/api/v1/rotation-policies")).body).toMatchObject({ count: 1, total: 1 });
    expect((await acme("DELETE", policy(id))).status).toBe(204);
    expect((await acme("DELETE", policy(id))).status).toBe(404);
    expect((await acme("GET", policy(id))).status).toBe(404);
  });

  it("takes 1 hour to 3650 days, from those who may, for one's own workspaces", async () => {
    const id = await workspace();
    for (const max_age of ["59m", "3651d", "1", "", "-1h"]) {
      expect((await rig.admin("acme")("PUT", policy(id), { max_age })).status, max_age).toBe(400);
    }
    expect((await rig.admin("acme", "auditor")("PUT", policy(id), { max_age: "2h" })).status).toBe(403);
    expect((await rig.admin("globex")("PUT", policy(id), { max_age: "2h" })).status).toBe(404);
    expect((await rig.admin("globex")("GET", policy(id))).status).toBe(404);
  });

  it("rotates a key that is due, once; what was encrypted before still decrypts; the actor is the system", async () => {
    const acme = rig.admin("acme");
    const id = await workspace();
    const path = `/api/v1/workspaces/${id}`;
    const { body: sealed } = await acme("POST", `${path}/encrypt`, { plaintext: "c2VjcmV0" });
    await acme("PUT", policy(id), { max_age: "2h" });
    expect(await after(2 * hour - 1)).toBe(0);
    // An edit makes the key no younger.
    await acme("PUT", path, { purpose: "edited" });
    expect(await after(1)).toBe(1);
    expect(await version(id)).toBe(2);
    expect((await acme("POST", `${path}/decrypt`, { ciphertext: sealed.ciphertext })).body.plaintext).toBe("c2VjcmV0");
    // Ten periods of downtime are made up for by one rotation.
    expect(await after(20 * hour)).toBe(1);
    expect(await version(id)).toBe(3);
    const { body } = await acme("GET", `/api/v1/audit?workspace=${id}&event_type=key.rotate`);
    expect(body.events.map((e: { actor: string; actor_type: string }) => [e.actor, e.actor_type])).toEqual([
      ["system:rotation", "system"],
      ["system:rotation", "system"],
    ]);
    await acme("DELETE", policy(id));
  });

  it("leaves archived workspaces, disabled policies and what a policy forbids alone, and goes on with the rest", async () => {
    const acme = rig.admin("acme");
    const [archived, disabled, forbidden, due] = [await workspace(), await workspace(), await workspace(), await workspace()];
    for (const id of [archived, forbidden, due]) await acme("PUT", policy(id), { max_age: "1h" });
    await acme("PUT", policy(disabled), { max_age: "1h", enabled: false });
    await acme("POST", `/api/v1/workspaces/${archived}/archive`, {});
    const body = { name: "no rotation", workspace: forbidden, rego: 'package p\nallow if input.operation != "rotate"' };
    const created = await acme("POST", "/api/v1/policies", { ...body, crk_signature: await key.sign("policy.create", "", body) });
    expect(created.status, created.text).toBe(201);
    expect(await after(hour)).toBe(1);
    expect([await version(archived), await version(disabled), await version(forbidden), await version(due)]).toEqual([
      1, 1, 1, 2,
    ]);
    const { body: log } = await acme("GET", `/api/v1/audit?workspace=${forbidden}&event_type=policy.violation`);
    expect(log.events[0]).toMatchObject({ actor: "system:rotation", result: "denied" });
  });
});

describe("rotation by several processes", () => {
  it("one runs at a time, another takes over when the lease is given back, and no key is rotated twice", async () => {
    const store = openMemoryStore(gatewaySchema);
    const first = await openRig({ store });
    const { vault } = first.gateway.services;
    const second = await openRig({ store, vault, issuer: first.issuer });
    const acme = first.admin("acme");
    const { body } = await acme("POST", "/api/v1/workspaces", { name: "shared" });
    await acme("PUT", `/api/v1/workspaces/${body.id}/rotation-policy`, { max_age: "1h" });
    const later = first.clock.now() + hour;
    first.clock.set(later);
    const both = await Promise.all([first.gateway.rotation.run(later), second.gateway.rotation.run(later)]);
    expect(both.toSorted()).toEqual([0, 1]);
    const [holder, other] = both[0] === 1 ? [first, second] : [second, first];
    expect(await other.gateway.rotation.run(later + hour)).toBe(1);
    expect(await holder.gateway.rotation.run(later + hour)).toBe(0);
    await other.gateway.rotation.release();
    expect(await holder.gateway.rotation.run(later + 2 * hour)).toBe(1);
    const stored = await store.get("workspaces", body.id);
    expect(stored?.doc["dek_version"]).toBe(4);
    await second.close();
    await first.close();
  });
});
