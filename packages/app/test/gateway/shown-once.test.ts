import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contract, secretFields } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authenticatorApp } from "./authenticator-app.ts";
import { openLevelRigStore } from "./level-store.ts";
import { type Caller, openRig, type Rig } from "./rig.ts";

/** Keyed requests that show secrets: a repeat could only be answered from what was kept. */
const showing = Object.entries(gatewayContract as Contract).filter(
  ([, { method, auth, safe, reply }]) =>
    method === "POST" && auth === "principal" && safe !== true && secretFields(reply).length > 0,
);

/** The route behind a path. */
function routeOf(path: string): string | undefined {
  return showing.find(([, route]) => new RegExp(`^${route.path.replace(/:[a-z_]+/g, "[^/]+")}$`).test(path))?.[0];
}

/** Every text of a value at a path like `reply.shares[].data`. */
function textsAt(value: unknown, [step, ...rest]: readonly string[]): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((item) => textsAt(item, [...(step === undefined ? [] : [step]), ...rest]));
  if (typeof value !== "object" || value === null || step === undefined) return [];
  return textsAt((value as Record<string, unknown>)[step.replaceAll("[]", "")], rest);
}

describe("a request with an Idempotency-Key whose answer shows a secret", () => {
  let directory: string;
  let store: DocumentStore;
  let rig: Rig;
  let calls = 0;
  const secrets = new Map<string, readonly string[]>();
  const repeats: { readonly id: string; readonly told: readonly unknown[] }[] = [];

  /** Sends each POST with a key of its own, and once more when it showed a secret. */
  const twice =
    (caller: Caller): Caller =>
    async (method, path, body) => {
      if (method !== "POST") return caller(method, path, body);
      calls += 1;
      const headers = { "idempotency-key": `key-${calls}` };
      const answer = await caller(method, path, body, headers);
      expect(answer.status, `${path} ${answer.text}`).toBeLessThan(300);
      const id = routeOf(path);
      if (id === undefined) return answer;
      const fields = secretFields((gatewayContract as Contract)[id]?.reply);
      const shown = fields.flatMap((field) => textsAt(answer.body, field.split(".").slice(1)));
      expect(shown.length, id).toBeGreaterThan(0);
      secrets.set(`${id} ${repeats.length}`, shown);
      const again = await caller(method, path, body, headers);
      repeats.push({ id, told: [again.status, again.body.error?.code] });
      return answer;
    };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "shown-once-"));
    store = await openLevelRigStore(directory);
    rig = await openRig({ store });
    const acme = twice(rig.admin("acme"));
    const made = async (path: string, body?: object, by = acme) => (await by("POST", `/api/v1/${path}`, body)).body;
    const custodians = [acme, twice(rig.admin("acme", "security_admin"))];
    const idOf = (role: "super_admin" | "operations_admin") => rig.dev.organizations["acme"]?.admins[role].id;

    const { shares } = await made("crk/generate", { total_shares: 3, threshold: 2 });
    const held = shares.map(({ index, data }: { index: number; data: string }) => ({ index, data }));
    const admin = await made("identities/admins", { email: "new@acme.example", name: "New", role: "auditor" });
    const recovery = await made("account-recovery/initiate", {
      admin_id: admin.id,
      recovery_type: "lost_credentials",
      reason: "lost the laptop",
    });
    for (const [i, by] of custodians.entries()) await made(`account-recovery/${recovery.id}/share`, held[i], by);
    await made(`account-recovery/${recovery.id}/complete`, {});
    const ceremony = await made("crk/rotate", { threshold: 2 });
    for (const [i, by] of custodians.entries()) await made(`crk/ceremony/${ceremony.id}/share`, { share: held[i] }, by);
    await made(`crk/ceremony/${ceremony.id}/complete`, { witness: idOf("operations_admin") });
    const service = await made("identities/services", { name: "mailer", auth_method: "role_credential" });
    await made(`identities/services/${service.id}/rotate`);
    await made("certificates/issue", { common_name: "sensor" });
    const mfa = `identities/admins/${idOf("super_admin")}/mfa`;
    const { provisioning_url } = await made(`${mfa}/enable`, {});
    await made(`${mfa}/verify`, { totp_code: authenticatorApp(provisioning_url, () => rig.clock.now())() });
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  it("is carried out once: a repeat says so, and that the answer was not kept", () => {
    for (const { id, told } of repeats) expect([id, ...told]).toEqual([id, 409, "REPLY_NOT_KEPT"]);
  });

  it("is every such route of the contract", () => {
    expect([...new Set(repeats.map(({ id }) => id))].sort()).toEqual(showing.map(([id]) => id).sort());
  });

  it("leaves no secret in any document, not even sealed for the repeat, nor in the files", async () => {
    const { vault } = rig.gateway.services;
    let opened = 0;
    const texts: [string, string][] = [];
    for (const { coll, id } of await store.changes(0, 100_000)) {
      const doc = (await store.get(coll, id))?.doc;
      texts.push([`${coll} ${id}`, JSON.stringify(doc ?? null)]);
      if (coll !== "idempotency" || typeof doc?.["answer"] !== "string") continue;
      const plain = await vault.decrypt("gateway-idempotency", doc["answer"], Buffer.from(id));
      const { body } = JSON.parse(Buffer.from(plain).toString()) as { body: string };
      texts.push([`opened ${id}`, Buffer.from(body, "base64").toString()]);
      opened += 1;
    }
    expect(opened).toBeGreaterThan(0);
    await rig.close();
    await store.close();
    for (const name of await readdir(directory, { recursive: true }))
      texts.push([name, await readFile(join(directory, name), "latin1").catch(() => "")]);
    for (const [what, shown] of secrets)
      for (const secret of shown)
        for (const [where, text] of texts)
          expect(text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)), `${what} in ${where}`).toBe(false);
  });
});
