import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bodyHash, operationBytes } from "@seneschal/crypto/signing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

const base = "/api/v1/backups";
const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];

describe("backups", () => {
  const location = mkdtempSync(join(tmpdir(), "seneschal-backups-"));
  const fileOf = (id: string): string => join(location, `${id}.backup`);
  let rig: Rig;
  let key: RootKey;
  let acme: Caller;
  beforeAll(async () => {
    rig = await openRig({ settings: { backup: { location } } });
    acme = rig.admin("acme");
    key = await rootKey(acme);
  });
  afterAll(async () => {
    await rig.close();
    rmSync(location, { recursive: true });
  });

  const backUp = async (): Promise<{ readonly id: string; readonly checksum: string }> => {
    const crk_signature = await key.sign("backup.create", "", { type: "full" });
    const made = await acme("POST", base, { type: "full", crk_signature });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ status: "completed", type: "full", error: null, restored_at: null });
    return made.body;
  };
  const restore = async (id: string): Promise<Answer> =>
    acme("POST", `${base}/${id}/restore`, { crk_signature: await key.sign("backup.restore", id, {}) });
  const workspace = async (name: string): Promise<string> => (await acme("POST", "/api/v1/workspaces", { name })).body.id;
  const head = async (): Promise<number> => (await rig.store.changes(0, 1_000_000)).at(-1)?.seq ?? 0;

  it("brings back what was deleted, with every key version, and the ciphertexts open again", async () => {
    const id = await workspace("precious");
    const path = `/api/v1/workspaces/${id}`;
    const first = await acme("POST", `${path}/encrypt`, { plaintext: "AAAA", context: { a: "b" } });
    await acme("POST", `${path}/rotate-dek`, {});
    const second = await acme("POST", `${path}/encrypt`, { plaintext: "BBBB" });
    await acme("PUT", `${path}/rotation-policy`, { max_age: "720h" });
    const { body: group } = await acme("POST", "/api/v1/identities/groups", { name: "kept" });
    const backup = await backUp();
    const file = readFileSync(fileOf(backup.id), "utf8");
    expect(file).toContain("vault:v1:");
    expect(file).not.toContain("precious");
    expect((await acme("GET", `${base}/${backup.id}`)).text).not.toContain("vault:");

    expect((await acme("DELETE", path, { signatures: {} })).status).toBe(204);
    expect((await acme("GET", path)).status).toBe(404);
    const restored = await restore(backup.id);
    expect(restored.status, restored.text).toBe(204);
    const opened = await acme("POST", `${path}/decrypt`, { ciphertext: first.body.ciphertext, context: { a: "b" } });
    expect(opened.status, opened.text).toBe(403);
    // Admissions that ended with the workspace stay revoked: a new one is granted.
    const admin = rig.dev.organizations["acme"]?.admins.super_admin.id;
    await acme("POST", `${path}/admissions`, { identity_id: admin, identity_type: "admin" });
    for (const [sealed, context, plaintext] of [
      [first, { a: "b" }, "AAAA"],
      [second, {}, "BBBB"],
    ] as const) {
      const { body } = await acme("POST", `${path}/decrypt`, { ciphertext: sealed.body.ciphertext, context });
      expect(body).toEqual({ plaintext });
    }
    expect((await acme("GET", `${path}/rotation-policy`)).body.max_age).toBe("720h");
    expect((await acme("GET", `/api/v1/identities/groups/${group.id}`)).status).toBe(200);
    expect((await acme("GET", `${base}/${backup.id}`)).body.restored_at).not.toBeNull();
    expect((await acme("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
  });

  it("never takes back a rotation, a revocation or a root key's epoch", async () => {
    const id = await workspace("moving on");
    const path = `/api/v1/workspaces/${id}`;
    const { body: issued } = await acme("POST", "/api/v1/certificates/issue", { common_name: "leaked" });
    const backup = await backUp();
    await acme("POST", `${path}/rotate-dek`, {});
    const sealed = await acme("POST", `${path}/encrypt`, { plaintext: "AAAA" });
    await acme("POST", "/api/v1/certificates/revoke", { serial_number: issued.serial_number });
    await acme("PUT", path, { purpose: "later" });
    const before = (await acme("GET", path)).body.revision;
    expect((await restore(backup.id)).status).toBe(204);
    const now = (await acme("GET", path)).body;
    expect(now).toMatchObject({ dek_version: 2, purpose: "" });
    expect(now.revision).toBeGreaterThan(before);
    expect((await acme("POST", `${path}/decrypt`, { ciphertext: sealed.body.ciphertext })).body.plaintext).toBe("AAAA");
    expect((await acme("GET", `/api/v1/certificates/${issued.serial_number}`)).body.status).toBe("revoked");
  });

  it("is written and restored with the root key's signature only, each for this very backup and once", async () => {
    expect(told(await acme("POST", base, {}))).toEqual([400, "SIGNATURE_REQUIRED"]);
    const [one, two] = [await backUp(), await backUp()];
    expect(told(await acme("POST", `${base}/${one.id}/restore`, {}))).toEqual([400, "SIGNATURE_REQUIRED"]);
    const crk_signature = await key.sign("backup.restore", one.id, {});
    const other = await acme("POST", `${base}/${two.id}/restore`, { crk_signature });
    expect(told(other)).toEqual([403, "SIGNATURE_INVALID"]);
    expect((await acme("POST", `${base}/${one.id}/restore`, { crk_signature })).status).toBe(204);
    expect(told(await acme("POST", `${base}/${one.id}/restore`, { crk_signature }))).toEqual([409, "SIGNATURE_REPLAYED"]);
    expect((await rig.admin("acme", "security_admin")("POST", `${base}/${one.id}/restore`, {})).status).toBe(403);
  });

  it("a file that was tampered with, cut or swapped restores nothing", async () => {
    const one = await backUp();
    await workspace("between the two");
    const two = await backUp();
    const [good, other] = [readFileSync(fileOf(one.id), "utf8"), readFileSync(fileOf(two.id), "utf8")];
    const [first = "", piece = ""] = good.split("\n");
    const flipped = piece.slice(0, -3) + (piece.at(-3) === "A" ? "B" : "A") + piece.slice(-2);
    for (const bad of [
      `${first}\n${flipped}\n`,
      `${first}\n`,
      other,
      `${first}\n${other.split("\n")[1]}\n`,
      `${first.replace(one.checksum, two.checksum)}\n${piece}\n`,
      "",
    ]) {
      writeFileSync(fileOf(one.id), bad);
      const crk_signature = await key.sign("backup.restore", one.id, {});
      const at = await head();
      expect(told(await acme("POST", `${base}/${one.id}/restore`, { crk_signature }))).toEqual([422, "CHECKSUM_MISMATCH"]);
      expect(await rig.store.changes(at, 10)).toEqual([]);
    }
    writeFileSync(fileOf(one.id), good);
    expect((await restore(one.id)).status).toBe(204);
  });

  it("a restore that cannot be done as a whole is not done at all", async () => {
    const { body: group } = await acme("POST", "/api/v1/identities/groups", { name: "contested" });
    const backup = await backUp();
    await acme("PUT", `/api/v1/identities/groups/${group.id}`, { name: "renamed" });
    await acme("POST", "/api/v1/identities/groups", { name: "contested" });
    const crk_signature = await key.sign("backup.restore", backup.id, {});
    const at = await head();
    expect(told(await acme("POST", `${base}/${backup.id}/restore`, { crk_signature }))).toEqual([409, "CONFLICT"]);
    expect(await rig.store.changes(at, 10)).toEqual([]);
  });

  it("belongs to one organisation: others neither see nor restore it", async () => {
    const backup = await backUp();
    const globex = rig.admin("globex");
    expect((await globex("GET", `${base}/${backup.id}`)).status).toBe(404);
    expect((await globex("GET", base)).body).toMatchObject({ backups: [], total: 0 });
    expect(told(await globex("POST", `${base}/${backup.id}/restore`, {}))).toEqual([403, "RESTORE_FORBIDDEN"]);
    expect((await acme("GET", base)).body.total).toBeGreaterThan(0);
  });

  it("a drill: a clean second instance with the same vault and directory comes up with the organisation whole", async () => {
    const id = await workspace("drilled");
    const admin = rig.dev.organizations["acme"]?.admins.super_admin.id ?? "";
    const letter = { recipient_org_id: "acme", recipient_id: admin, subject: "kept", body: "AAAA" };
    const { body: sent } = await acme("POST", "/api/v1/messages", letter);
    const sealed = await acme("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: "AAAA" });
    const backup = await backUp();
    const { vault } = rig.gateway.services;
    const spare = await openRig({
      vault,
      issuer: rig.issuer,
      organizations: [],
      settings: { backup: { location }, server: { instance_id: "spare" } },
    });
    const operator = spare.bearer({ sub: "operator", org: "anywhere", roles: ["super_admin"] });
    expect((await operator("GET", `${base}/${backup.id}`)).status).toBe(404);
    expect(told(await operator("POST", `${base}/${backup.id}/restore`, {}))).toEqual([400, "SIGNATURE_REQUIRED"]);
    expect(await spare.store.count("organizations", "by_time", [])).toBe(0);

    const { body: crk } = await acme("GET", "/api/v1/organizations/acme");
    const iat = Math.floor(spare.clock.now() / 1000);
    const signature_params = { nonce: "n".repeat(24), iat, exp: iat + 300 };
    const message = operationBytes({
      v: 1,
      op: "backup.restore",
      org_id: "acme",
      audience: "spare",
      resource_type: "backup",
      resource_id: backup.id,
      body_sha256: bodyHash({ checksum: backup.checksum }),
      crk_id: crk.crk.id,
      crk_epoch: crk.crk.version,
      ...signature_params,
    });
    const { body: made } = await acme("POST", "/api/v1/crk/sign", {
      shares: key.shares.slice(0, 2),
      public_key: key.publicKey,
      data: Buffer.from(message).toString("base64"),
    });
    const restored = await operator("POST", `${base}/${backup.id}/restore`, { crk_signature: made.signature, signature_params });
    expect(restored.status, restored.text).toBe(204);

    const there = spare.bearer({ sub: admin, org: "acme", roles: ["super_admin"] });
    const opened = await there("POST", `/api/v1/workspaces/${id}/decrypt`, { ciphertext: sealed.body.ciphertext });
    expect(opened.body, opened.text).toEqual({ plaintext: "AAAA" });
    expect((await there("GET", `/api/v1/identities/admins/${admin}`)).body.role).toBe("super_admin");
    expect((await there("GET", `/api/v1/messages/${sent.id}`)).body).toMatchObject({ subject: "kept", body: "AAAA" });
    expect((await there("GET", `${base}/${backup.id}`)).body.restored_at).not.toBeNull();
    const again = await operator("POST", `${base}/${backup.id}/restore`, {});
    expect(told(again)).toEqual([403, "RESTORE_FORBIDDEN"]);
    await spare.close();
  });
});
