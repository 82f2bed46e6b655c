import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registered } from "./registered.ts";
import { openRig, type Rig } from "./rig.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("the main job over mTLS", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  it("a key ceremony, a workspace, encryption bound to its context, rotation, and old data stays readable", async () => {
    const acme = rig.admin("acme");
    const crk = await acme("POST", "/api/v1/crk/generate", { total_shares: 5, threshold: 3 });
    expect(crk.status, crk.text).toBe(200);
    expect(crk.body.shares).toHaveLength(5);
    const { shares, public_key } = crk.body;

    const body = { name: "deal", classification: "CONFIDENTIAL", purpose: "merger" };
    const prepared = await acme("POST", "/api/v1/crk/signing-requests", { operation: "workspace.create", body });
    expect(prepared.status, prepared.text).toBe(201);
    const signed = await acme("POST", "/api/v1/crk/sign", {
      shares: shares.slice(1, 4).map(({ index, data }: { index: number; data: string }) => ({ index, data })),
      public_key,
      data: prepared.body.message,
    });
    expect(signed.status, signed.text).toBe(200);
    const created = await acme("POST", "/api/v1/workspaces", { ...body, crk_signature: signed.body.signature });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({ crk_protected: true, dek_version: 1, owner_org_id: "acme", status: "active" });
    const { id } = created.body;
    const path = `/api/v1/workspaces/${id}`;

    const context = { purpose: "merger", file: "a" };
    const sealed = await acme("POST", `${path}/encrypt`, { plaintext: base64("secret"), context });
    expect(sealed.status, sealed.text).toBe(200);
    const opened = await acme("POST", `${path}/decrypt`, {
      ciphertext: sealed.body.ciphertext,
      context: { file: "a", purpose: "merger" },
    });
    expect(opened.body).toEqual({ plaintext: base64("secret") });
    const wrong = await acme("POST", `${path}/decrypt`, { ciphertext: sealed.body.ciphertext, context: { file: "b" } });
    expect([wrong.status, wrong.body.error.code]).toEqual([400, "DECRYPTION_FAILED"]);

    const sign = async (operation: string, resource_id: string, of: object = {}): Promise<string> => {
      const request = await acme("POST", "/api/v1/crk/signing-requests", { operation, resource_id, body: of });
      const made = await acme("POST", "/api/v1/crk/sign", {
        shares: shares.slice(0, 3).map(({ index, data }: { index: number; data: string }) => ({ index, data })),
        public_key,
        data: request.body.message,
      });
      return made.body.signature;
    };
    const unsigned = await acme("POST", `${path}/rotate-dek`, {});
    expect([unsigned.status, unsigned.body.error.code]).toEqual([400, "SIGNATURE_REQUIRED"]);
    const signature = await sign("workspace.rotate-dek", id);
    expect((await acme("POST", `${path}/rotate-dek`, { signature })).status).toBe(204);
    const replayed = await acme("POST", `${path}/rotate-dek`, { signature });
    expect(replayed.status, replayed.text).toBeGreaterThanOrEqual(400);

    const again = await acme("POST", `${path}/decrypt`, { ciphertext: sealed.body.ciphertext, context });
    expect(again.body).toEqual({ plaintext: base64("secret") });
    const fresh = await acme("POST", `${path}/encrypt`, { plaintext: "", context });
    expect(Buffer.from(fresh.body.ciphertext, "base64")[4]).toBe(2);

    const exported = await acme("POST", `${path}/export`, { signature: await sign("workspace.export", id) });
    expect(exported.status, exported.text).toBe(200);
    expect(exported.body.recipient_orgs).toEqual(["acme"]);
    expect((await acme("POST", `${path}/archive`, { signature: await sign("workspace.archive", id) })).status).toBe(204);
    const refused = await acme("POST", `${path}/encrypt`, { plaintext: "", context });
    expect([refused.status, refused.body.error.code]).toEqual([409, "WORKSPACE_ARCHIVED"]);
    const taken = await acme("POST", "/api/v1/workspaces/import", {
      ...exported.body,
      crk_signature: await sign("workspace.import", id, exported.body),
    });
    expect([taken.status, taken.body.error.code]).toEqual([409, "CONFLICT"]);
    const gone = await acme("DELETE", path, { signatures: { acme: await sign("workspace.delete", id) } });
    expect(gone.status, gone.text).toBe(204);
    expect((await acme("GET", path)).status).toBe(404);
    const imported = await acme("POST", "/api/v1/workspaces/import", {
      ...exported.body,
      crk_signature: await sign("workspace.import", id, exported.body),
    });
    expect(imported.status, imported.text).toBe(201);
    expect(imported.body.id).toBe(id);
    const reopened = await acme("POST", `${path}/decrypt`, { ciphertext: sealed.body.ciphertext, context });
    expect(reopened.body).toEqual({ plaintext: base64("secret") });

    const verified = await acme("POST", "/api/v1/audit/verify", {});
    expect(verified.body).toMatchObject({ valid: true, since: null, until: null });
    const events = await acme("GET", `/api/v1/audit?workspace=${id}&limit=1000`);
    expect(events.body.events.map((event: { event_type: string }) => event.event_type)).toEqual(
      expect.arrayContaining([
        "workspace.create",
        "key.create",
        "encrypt",
        "decrypt",
        "key.rotate",
        "workspace.export",
        "workspace.archive",
        "workspace.delete",
        "workspace.import",
      ]),
    );
  });

  it("two organisations share a workspace: invited, accepted, each admits its own, nobody else sees it", async () => {
    const acme = rig.admin("acme");
    const globex = rig.admin("globex");
    const { body: workspace } = await acme("POST", "/api/v1/workspaces", { name: "shared", participants: ["globex"] });
    const path = `/api/v1/workspaces/${workspace.id}`;
    expect((await globex("GET", path)).status).toBe(404);
    expect((await globex("POST", `${path}/accept-invitation`, { org_id: "globex" })).status).toBe(204);
    expect((await globex("GET", path)).body.participant_orgs).toEqual(["acme", "globex"]);

    const { body } = await acme("POST", `${path}/encrypt`, { plaintext: base64("across"), context: {} });
    expect((await globex("POST", `${path}/decrypt`, { ciphertext: body.ciphertext })).body.plaintext).toBe(base64("across"));

    const { id: mallory, call: outsider } = await registered(rig, globex, { sub: "mallory", org: "globex" });
    const refused = await outsider("POST", `${path}/decrypt`, { ciphertext: body.ciphertext });
    expect([refused.status, refused.body.error.code]).toEqual([403, "NOT_ADMITTED"]);
    const granted = await globex("POST", `${path}/admissions`, { identity_id: mallory, identity_type: "user" });
    expect(granted.status, granted.text).toBe(201);
    expect((await outsider("POST", `${path}/decrypt`, { ciphertext: body.ciphertext })).status).toBe(200);
    expect((await acme("DELETE", `${path}/admissions/${mallory}`)).status).toBe(204);
    expect((await outsider("POST", `${path}/decrypt`, { ciphertext: body.ciphertext })).status).toBe(403);
    expect((await outsider("GET", path)).status).toBe(404);
  });
});
