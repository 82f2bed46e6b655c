import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { establish, importCertificate, openSide, type Side } from "./federated.ts";

const base = "/api/v1/workspaces";
const secret = Buffer.from("across the gap").toString("base64");

describe("two gateways with a gap of air between them", () => {
  let acme: Side;
  let globex: Side;
  /** Stands at the address of both partners: every connection that is made is one too many. */
  let trap: Server;
  let caught = 0;
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme"), openSide("globex")]);
    trap = createServer((socket) => {
      caught += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
    const partner_url = `https://localhost:${(trap.address() as AddressInfo).port}`;
    const [forGlobex, forAcme] = [await establish(acme, globex, { partner_url }), await establish(globex, acme, { partner_url })];
    expect([forGlobex.status, forAcme.status]).toEqual([201, 201]);
    expect((await importCertificate(acme, "globex", forAcme.body.certificate)).status).toBe(204);
    expect((await importCertificate(globex, "acme", forGlobex.body.certificate)).status).toBe(204);
  });
  afterAll(async () => {
    trap.close();
    await Promise.all([acme.rig.close(), globex.rig.close()]);
  });

  const settle = async (): Promise<void> => {
    for (const { rig } of [acme, globex]) await rig.gateway.deliver(rig.clock.now() + 3_600_000);
  };
  const encrypt = (side: Side, id: string) => side.call("POST", `${base}/${id}/encrypt`, { plaintext: secret });
  const decrypt = async (side: Side, id: string, ciphertext: string) =>
    (await side.call("POST", `${base}/${id}/decrypt`, { ciphertext })).body;

  it("share an air-gapped workspace by carried bundles; the importer is admitted; a later bundle brings the rotated key; nothing leaves by network", async () => {
    const { body: workspace } = await acme.call("POST", base, { name: "gap", mode: "airgap" });
    const path = `${base}/${workspace.id}`;
    expect((await acme.call("POST", `${path}/invite`, { org_id: "globex" })).status).toBe(201);
    const before = (await encrypt(acme, workspace.id)).body.ciphertext;
    const bundle = (await acme.call("POST", `${path}/export`, {})).body;
    expect(bundle.recipient_orgs).toEqual(["acme", "globex"]);
    expect((await acme.call("GET", path)).body.participant_orgs).toEqual(["acme", "globex"]);
    const imported = await globex.call("POST", `${base}/import`, bundle);
    expect(imported.status, imported.text).toBe(201);
    expect(imported.body).toMatchObject({ id: workspace.id, owner_org_id: "acme", mode: "airgap", dek_version: 1 });
    expect(await decrypt(globex, workspace.id, before)).toEqual({ plaintext: secret });
    const back = (await encrypt(globex, workspace.id)).body.ciphertext;
    expect(await decrypt(acme, workspace.id, back)).toEqual({ plaintext: secret });
    const again = await globex.call("POST", `${base}/import`, bundle);
    expect([again.status, again.body.error.code]).toEqual([409, "CONFLICT"]);

    expect((await acme.call("POST", `${path}/rotate-dek`)).status).toBe(204);
    await acme.call("PUT", path, { purpose: "still apart" });
    const fresh = (await encrypt(acme, workspace.id)).body.ciphertext;
    expect((await decrypt(globex, workspace.id, fresh)).error.code).toBe("DECRYPTION_FAILED");
    const newer = (await acme.call("POST", `${path}/export`, {})).body;
    const other = globex.rig.admin("globex", "security_admin");
    const updated = await other("POST", `${base}/import`, newer);
    expect([updated.status, updated.body.dek_version, updated.body.purpose], updated.text).toEqual([201, 2, "still apart"]);
    // The first import was the acceptance; this one brings what is new, and opens nothing to whoever carried it.
    const carrier = await other("POST", `${path}/decrypt`, { ciphertext: fresh });
    expect([carrier.status, carrier.body.error.code]).toEqual([403, "NOT_ADMITTED"]);
    expect(await decrypt(globex, workspace.id, fresh)).toEqual({ plaintext: secret });
    expect(await decrypt(globex, workspace.id, before)).toEqual({ plaintext: secret });
    expect((await acme.call("POST", `${path}/archive`)).status).toBe(204);
    await settle();
    expect(caught).toBe(0);
  });

  it("a bundle that was changed, or is for somebody else, is refused", async () => {
    const { body: workspace } = await acme.call("POST", base, { name: "not for globex", mode: "airgap" });
    const foreign = (await acme.call("POST", `${base}/${workspace.id}/export`, {})).body;
    const refused = await globex.call("POST", `${base}/import`, foreign);
    expect([refused.status, refused.body.error.details.reason]).toEqual([400, "recipient"]);
    await acme.call("POST", `${base}/${workspace.id}/invite`, { org_id: "globex" });
    const bundle = (await acme.call("POST", `${base}/${workspace.id}/export`, {})).body;
    const forged = await globex.call("POST", `${base}/import`, { ...bundle, workspace: { ...bundle.workspace, name: "x" } });
    expect([forged.status, forged.body.error.details.reason]).toEqual([400, "checksum"]);
    const unsigned = await globex.call("POST", `${base}/import`, { ...bundle, signature: Buffer.alloc(64).toString("base64") });
    expect([unsigned.status, unsigned.body.error.details.reason]).toEqual([400, "signature"]);
    expect(caught).toBe(0);
  });

  it("the trap works: a workspace that is not air-gapped goes by network", async () => {
    const { body: workspace } = await acme.call("POST", base, { name: "by network" });
    await acme.call("POST", `${base}/${workspace.id}/invite`, { org_id: "globex" });
    await settle();
    expect(caught).toBeGreaterThan(0);
  });
});
