import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, openRig, type Rig } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

const base = "/api/v1/account-recovery";
const day = 86_400_000;
const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];

describe("account recovery", () => {
  let rig: Rig;
  let key: RootKey;
  let foreign: RootKey;
  beforeAll(async () => {
    rig = await openRig();
    key = await rootKey(rig.admin("acme"));
    foreign = await rootKey(rig.admin("globex"));
  });
  afterAll(() => rig.close());

  const idOf = (role: "super_admin" | "security_admin" | "operations_admin" | "auditor"): string =>
    rig.dev.organizations["acme"]?.admins[role].id ?? "";
  const open = async (admin_id: string, recovery_type = "lost_credentials"): Promise<string> => {
    const opened = await rig.admin("acme")("POST", `${base}/initiate`, { admin_id, recovery_type, reason: "lost the laptop" });
    expect(opened.status, opened.text).toBe(201);
    expect(opened.body).toMatchObject({ status: "pending", shares_needed: 2, shares_collected: 0 });
    return opened.body.id;
  };
  const submit = (id: string, share: unknown, by = rig.admin("acme")): Promise<Answer> =>
    by("POST", `${base}/${id}/share`, share as object);
  const newAdmin = async (name: string): Promise<string> => {
    const made = await rig.admin("acme")("POST", "/api/v1/identities/admins", {
      email: `${name}@acme.example`,
      name,
      role: "auditor",
    });
    return made.body.id;
  };

  it("a quorum of real shares resets credentials: the certificate dies, the second factor goes, one token comes", async () => {
    const role = "operations_admin";
    const operator = rig.admin("acme", role);
    await operator("POST", `/api/v1/identities/admins/${idOf(role)}/mfa/enable`);
    const id = await open(idOf(role));
    expect(told(await rig.admin("acme")("POST", `${base}/${id}/complete`))).toEqual([422, "CRK_THRESHOLD_NOT_MET"]);
    expect((await submit(id, key.shares[0])).body).toMatchObject({ status: "pending", shares_collected: 1 });
    expect(told(await submit(id, key.shares[2]))).toEqual([409, "CONFLICT"]);
    const second = await submit(id, { share: key.shares[2] }, rig.admin("acme", "security_admin"));
    expect(second.body).toMatchObject({ status: "shares_collected", shares_collected: 2 });
    expect(second.text).not.toContain(key.shares[2]?.data);
    const held = await rig.store.get("recovery_shares", `${id}/1`);
    expect(JSON.stringify(held)).not.toContain(key.shares[0]?.data);

    const done = await rig.admin("acme")("POST", `${base}/${id}/complete`, {});
    expect(done.body, done.text).toMatchObject({ status: "completed", enrollment_token: expect.stringMatching(/^senr_/) });
    expect((await operator("GET", "/api/v1/identities/groups")).status).toBe(401);
    const admin = await rig.admin("acme")("GET", `/api/v1/identities/admins/${idOf(role)}`);
    expect(admin.body).toMatchObject({ enrollment_status: "pending", mfa_enabled: false, cert_serial: null });
    expect(await rig.store.get("recovery_shares", `${id}/1`)).toBeUndefined();
    expect(await rig.store.get("admin_mfa", idOf(role))).toBeUndefined();
    expect(told(await rig.admin("acme")("POST", `${base}/${id}/complete`))).toEqual([409, "STATE_CONFLICT"]);
    const setup = `/api/v1/enrollment/admins/${idOf(role)}/setup?token=${done.body.enrollment_token}`;
    expect((await rig.anonymous("GET", setup)).status).toBe(200);
  });

  it("counting calls is no recovery: forged, foreign, renumbered and repeated shares do not count", async () => {
    const id = await open(await newAdmin("forged"));
    const good = key.shares[0] ?? { index: 1, data: "" };
    const damaged = Buffer.from(good.data, "base64");
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1);
    for (const share of [
      { index: 1, data: damaged.toString("base64") },
      { index: 1, data: foreign.shares[0]?.data },
      { index: 2, data: good.data },
      { index: 3, data: Buffer.alloc(64, 7).toString("base64") },
    ]) {
      const refused = await submit(id, share);
      expect(told(refused), refused.text).toEqual([422, "SHARE_INVALID"]);
      expect(refused.body.error.details.indexes).toEqual([share.index]);
    }
    expect((await submit(id, good)).status).toBe(200);
    expect(told(await submit(id, good))).toEqual([409, "CONFLICT"]);
    expect(told(await rig.admin("acme")("POST", `${base}/${id}/complete`))).toEqual([422, "CRK_THRESHOLD_NOT_MET"]);
  });

  it("nobody opens, feeds or completes their own recovery, and another organisation sees none", async () => {
    const mine = { admin_id: idOf("super_admin"), recovery_type: "lost_credentials", reason: "me" };
    expect(told(await rig.admin("acme")("POST", `${base}/initiate`, mine))).toEqual([403, "FORBIDDEN"]);
    const opened = await rig.admin("acme", "security_admin")("POST", `${base}/initiate`, mine);
    expect(opened.status, opened.text).toBe(201);
    expect(told(await submit(opened.body.id, key.shares[0]))).toEqual([403, "FORBIDDEN"]);
    expect(told(await rig.admin("acme")("POST", `${base}/${opened.body.id}/complete`))).toEqual([403, "FORBIDDEN"]);
    expect((await submit(opened.body.id, foreign.shares[0], rig.admin("globex"))).status).toBe(404);
    const other = await rig.admin("globex")("POST", `${base}/initiate`, mine);
    expect(other.status).toBe(404);
    expect((await rig.admin("acme", "auditor")("POST", `${base}/initiate`, mine)).status).toBe(403);
    const again = await rig.admin("acme", "security_admin")("POST", `${base}/initiate`, mine);
    expect(told(again)).toEqual([409, "CONFLICT"]);
  });

  it("a locked account gets its lock cleared and keeps its credentials", async () => {
    const auditor = rig.admin("acme", "auditor");
    const path = `/api/v1/identities/admins/${idOf("auditor")}/mfa`;
    await auditor("POST", `${path}/enable`);
    for (let i = 0; i < 5; i++) expect((await auditor("POST", `${path}/verify`, { totp_code: "000000" })).status).toBe(401);
    const locked = await auditor("POST", `${path}/verify`, { totp_code: "000000" });
    expect([locked.status, locked.headers.get("retry-after")]).toEqual([429, "900"]);
    const id = await open(idOf("auditor"), "locked_account");
    await submit(id, key.shares[1]);
    await submit(id, key.shares[2], rig.admin("acme", "security_admin"));
    const done = await rig.admin("acme")("POST", `${base}/${id}/complete`);
    expect(done.body).toMatchObject({ status: "completed" });
    expect(done.body).not.toHaveProperty("enrollment_token");
    expect((await auditor("POST", `${path}/verify`, { totp_code: "000000" })).status).toBe(401);
  });

  it("expires after a day; the shares that were collected are erased", async () => {
    const id = await open(await newAdmin("late"));
    await submit(id, key.shares[0]);
    rig.clock.set(rig.clock.now() + day);
    expect(told(await submit(id, key.shares[1]))).toEqual([409, "STATE_CONFLICT"]);
    await rig.gateway.sweep(rig.clock.now());
    expect((await rig.store.get("recoveries", id))?.doc["status"]).toBe("expired");
    expect(await rig.store.get("recovery_shares", `${id}/1`)).toBeUndefined();
  });

  it("shares of a key that was rotated meanwhile open nothing", async () => {
    const id = await open(await newAdmin("rotated"));
    await submit(id, key.shares[0]);
    const acme = rig.admin("acme");
    const { body: ceremony } = await acme("POST", "/api/v1/crk/rotate", { threshold: 2 });
    for (const [i, by] of [acme, rig.admin("acme", "auditor")].entries()) {
      expect((await by("POST", `/api/v1/crk/ceremony/${ceremony.id}/share`, { share: key.shares[i] })).status).toBe(204);
    }
    const rotated = await acme("POST", `/api/v1/crk/ceremony/${ceremony.id}/complete`, { witness: idOf("security_admin") });
    expect(rotated.status, rotated.text).toBe(200);
    expect(told(await submit(id, key.shares[1], rig.admin("acme", "auditor")))).toEqual([409, "STATE_CONFLICT"]);
  });
});
