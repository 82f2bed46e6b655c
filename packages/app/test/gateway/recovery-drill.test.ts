import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { canonicalJson } from "@seneschal/crypto";
import { bodyHash, operationBytes } from "@seneschal/crypto/signing";
import { afterAll, expect, it } from "vitest";
import { openVault } from "../../src/compose/open-vault.ts";
import { initVaultByBackup, initVaultShares } from "../../src/compose/operate-vault.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { vaultSettings } from "../../src/compose/storage-settings.ts";
import { auditGatewaySeal } from "../../src/gateway/ground/audit/event.ts";
import { kekName, organizationKeyRecords } from "../../src/gateway/ground/organization-keys.ts";
import { federationIdentities } from "../../src/gateway/partners/collections.ts";
import { federationKey } from "../../src/gateway/partners/federation/channel.ts";
import type { SealedVault } from "../../src/platform/index.ts";
import { openLevelRigStore } from "./level-store.ts";
import { type Answer, type Caller, openRig, type Rig, type RigOptions } from "./rig.ts";
import { type RootKey, rootKey } from "./root-key.ts";

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "seneschal-drill-"));
  cleanups.push(() => rmSync(path, { recursive: true }));
  return path;
}

const unsealKey = (): string => Buffer.from(systemRandom(32)).toString("base64");

/** A gateway over what lies in a directory: its database, with the default vault in it, its `unseal.key` and its backups. */
async function machine(directory: string, instance: string, options: RigOptions = {}, shares: readonly string[] = []) {
  const store = await openLevelRigStore(join(directory, "gateway"));
  const operators = async (sealed: SealedVault): Promise<Uint8Array> => {
    let nonce: string | undefined;
    for (const key of shares)
      ({ nonce } = await sealed.unseal({ key, nonce, now: systemClock.now(), address: "here", requestId: "" }));
    return sealed.opened;
  };
  const parts = { store, crypto: nodeCrypto, clock: systemClock, random: systemRandom, audit: auditGatewaySeal, operators };
  const seal = shares.length === 0 ? {} : { seal: { kind: "shamir" } };
  const { vault } = await openVault(vaultSettings.parse(seal), join(directory, "unseal.key"), parts);
  const settings = { backup: { location: join(directory, "gateway-backups") }, server: { instance_id: instance } };
  const rig = await openRig({ ...options, store, vault, settings });
  let open = true;
  const stop = async () => {
    if (!open) return;
    open = false;
    await rig.close();
    await store.close();
  };
  cleanups.push(stop);
  return { rig, vault, stop };
}

/** An empty machine that was given copies of the backups and an unseal key. */
function empty(backups: string, unseal: string): string {
  const directory = folder();
  writeFileSync(join(directory, "unseal.key"), unseal, { mode: 0o600 });
  cpSync(backups, join(directory, "gateway-backups"), { recursive: true });
  return directory;
}

interface Made {
  readonly id: string;
  readonly checksum: string;
}

/** The restore as custodians sign it for another instance. */
async function signedRestore(acme: Caller, key: RootKey, backup: Made, audience: string): Promise<object> {
  const { crk } = (await acme("GET", "/api/v1/organizations/acme")).body;
  const iat = Math.floor(Date.now() / 1000);
  const signature_params = { nonce: Buffer.from(systemRandom(18)).toString("base64url"), iat, exp: iat + 900 };
  const message = operationBytes({
    v: 1,
    op: "backup.restore",
    org_id: "acme",
    audience,
    resource_type: "backup",
    resource_id: backup.id,
    body_sha256: bodyHash({ checksum: backup.checksum }),
    crk_id: crk.id,
    crk_epoch: crk.version,
    ...signature_params,
  });
  const signed = await acme("POST", "/api/v1/crk/sign", {
    shares: key.shares.slice(0, 2),
    public_key: key.publicKey,
    data: Buffer.from(message).toString("base64"),
  });
  expect(signed.status, signed.text).toBe(200);
  return { crk_signature: signed.body.signature, signature_params };
}

const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];
const restoring = (rig: Rig, backup: Made, body: object, org = "anywhere"): Promise<Answer> =>
  rig.bearer({ sub: "operator", org, roles: ["super_admin"] })("POST", `/api/v1/backups/${backup.id}/restore`, body);

it("a backup and the operators' shares, and nothing else of the lost machine, are the organisation on a clean one", async () => {
  const configured = (data_dir: string) => processSettings.parse({ data_dir, gateway: { vault: { seal: { kind: "shamir" } } } });
  const here = folder();
  const { shares } = await initVaultShares(configured(here), "gateway", { shares: 3, threshold: 2 });
  const lost = await machine(here, "lost", {}, shares.slice(0, 2));
  const acme = lost.rig.admin("acme");
  const key = await rootKey(acme);
  const { id } = (await acme("POST", "/api/v1/workspaces", { name: "ledger" })).body;
  const { ciphertext } = (await acme("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: "AAAA" })).body;
  const type = { type: "full" };
  const made = await acme("POST", "/api/v1/backups", { ...type, crk_signature: await key.sign("backup.create", "", type) });
  const backup: Made = made.body;
  const to = await signedRestore(acme, key, backup, "spare");
  const admin = lost.rig.dev.organizations["acme"]?.admins.super_admin.id ?? "";
  await lost.stop();

  const there = folder();
  cpSync(join(here, "gateway-backups"), join(there, "gateway-backups"), { recursive: true });
  const file = readFileSync(join(there, "gateway-backups", `${backup.id}.backup`), "utf8");
  for (const other of ["", "{}", '{"keys":true}\nbm9uZQ=='])
    await expect(initVaultByBackup(configured(there), "gateway", other)).rejects.toHaveProperty("code");
  expect(await initVaultByBackup(configured(there), "gateway", file)).toEqual({ shares: 3, threshold: 2 });
  const spare = await machine(there, "spare", { organizations: [] }, shares.slice(1));
  const restored = await restoring(spare.rig, backup, to);
  expect(restored.status, restored.text).toBe(204);
  const caller = spare.rig.bearer({ sub: admin, org: "acme", roles: ["super_admin"] });
  expect((await caller("POST", `/api/v1/workspaces/${id}/decrypt`, { ciphertext })).body).toEqual({ plaintext: "AAAA" });
  await spare.stop();
});

it("a backup and unseal.key, and nothing else of the lost machine, are the organisation on a clean one", async () => {
  const [here, unseal] = [folder(), unsealKey()];
  writeFileSync(join(here, "unseal.key"), unseal, { mode: 0o600 });
  const lost = await machine(here, "lost");
  const acme = lost.rig.admin("acme");
  const key = await rootKey(acme);
  const { id } = (await acme("POST", "/api/v1/workspaces", { name: "ledger" })).body;
  const path = `/api/v1/workspaces/${id}`;
  const first = (await acme("POST", `${path}/encrypt`, { plaintext: "AAAA", context: { a: "b" } })).body.ciphertext;
  await acme("POST", `${path}/rotate-dek`, {});
  const second = (await acme("POST", `${path}/encrypt`, { plaintext: "BBBB" })).body.ciphertext;
  const rego = `package gateway.workspace["${id}"]\nallow := input.purpose == "audit"\ndeny_reason := "audits only" if not allow\n`;
  const policy = { name: "audits", workspace: id, rego };
  await acme("POST", "/api/v1/policies", { ...policy, crk_signature: await key.sign("policy.create", "", policy) });
  const judged = async (caller: Caller) => {
    const asked = await caller("POST", "/api/v1/policies/evaluate", { actor: "a", operation: "decrypt", workspace: id });
    const { eval_time_ms: _, ...verdict } = asked.body;
    return verdict;
  };
  const before = await judged(acme);
  expect(before).toMatchObject({ allowed: false });
  const init = await acme("POST", "/api/v1/federation/init", { crk_signature: await key.sign("federation.init", "", {}) });
  expect(init.status, init.text).toBe(200);
  const partnerFacing = async ({ gateway: { services } }: Rig) => {
    const identity = await services.read.get(federationIdentities, "acme");
    if (identity === undefined) throw new Error("no identity");
    return { identity, key: await federationKey(services, identity) };
  };
  const identity = await partnerFacing(lost.rig);
  const working = await lost.rig.gateway.services.read.get(organizationKeyRecords, "acme");
  const type = { type: "full" };
  const made = await acme("POST", "/api/v1/backups", { ...type, crk_signature: await key.sign("backup.create", "", type) });
  expect(made.status, made.text).toBe(201);
  const backup: Made = made.body;
  const [to, stranger, other] = [
    await signedRestore(acme, key, backup, "spare"),
    await signedRestore(acme, key, backup, "stranger"),
    await signedRestore(acme, key, backup, "taken"),
  ];
  const admin = lost.rig.dev.organizations["acme"]?.admins.super_admin.id ?? "";
  await lost.stop();

  // The file says neither what it holds nor any key.
  const backups = join(here, "gateway-backups");
  const file = readFileSync(join(backups, `${backup.id}.backup`), "utf8");
  const [line = "", carried = "", piece = ""] = file.split("\n");
  for (const word of ["ledger", unseal, kekName("acme")])
    expect([file.includes(word), Buffer.from(carried, "base64").includes(word)], word).toEqual([false, false]);

  // Another unseal key: the cause is named, and nothing is changed.
  const issuer = lost.rig.issuer;
  const strange = await machine(empty(backups, unsealKey()), "stranger", { issuer, organizations: [] });
  expect(told(await restoring(strange.rig, backup, stranger))).toEqual([422, "VAULT_MISMATCH"]);
  expect(await strange.rig.store.count("organizations", "by_time", [])).toBe(0);
  expect(await strange.vault.listKeys()).not.toContain(kekName("acme"));

  // Damage is damage, by chance or made to look whole.
  const spareFolder = empty(backups, unseal);
  const spare = await machine(spareFolder, "spare", { issuer, organizations: [] });
  const copy = join(spareFolder, "gateway-backups", `${backup.id}.backup`);
  const { file_checksum: _, ...head } = JSON.parse(line);
  const whole = (facts: object, ...lines: string[]) => {
    const digest = nodeCrypto.hash("sha256", new TextEncoder().encode([canonicalJson(facts as never), ...lines].join("\n")));
    return [JSON.stringify({ ...facts, file_checksum: Buffer.from(digest).toString("base64") }), ...lines, ""].join("\n");
  };
  const swap = (text: string) => text.slice(0, -9) + (text.at(-9) === "A" ? "B" : "A") + text.slice(-8);
  for (const bad of [
    [line, swap(carried), piece, ""].join("\n"),
    [line, carried, swap(piece), ""].join("\n"),
    whole(head, carried, swap(piece)),
    whole({ ...head, org_id: "globex" }, carried, piece),
  ]) {
    writeFileSync(copy, bad);
    expect(told(await restoring(spare.rig, backup, to))).toEqual([422, "CHECKSUM_MISMATCH"]);
  }
  // A signature is needed before the vault takes any key.
  writeFileSync(copy, file);
  expect(told(await restoring(spare.rig, backup, {}))).toEqual([400, "SIGNATURE_REQUIRED"]);
  expect(await spare.vault.listKeys()).not.toContain(kekName("acme"));

  const restored = await restoring(spare.rig, backup, to);
  expect(restored.status, restored.text).toBe(204);
  const there = spare.rig.bearer({ sub: admin, org: "acme", roles: ["super_admin"] });
  const opened = async (ciphertext: string, context?: object) =>
    (await there("POST", `${path}/decrypt`, { ciphertext, ...(context && { context }) })).body;
  const denied = await there("POST", `${path}/decrypt`, { ciphertext: second });
  expect(denied.status, "the policy holds as before").toBe(403);
  expect(await judged(there)).toEqual(before);
  const listed = await there("GET", `/api/v1/policies/workspace/${id}`);
  expect(listed.body?.policies, listed.text).toMatchObject([policy]);
  const { policies } = listed.body;
  const signature = await signOn(there, key, "policy.delete", policies[0].id);
  const gone = await there("DELETE", `/api/v1/policies/${policies[0].id}`, { signature });
  expect(gone.status, gone.text).toBe(204);
  expect(await opened(first, { a: "b" })).toEqual({ plaintext: "AAAA" });
  expect(await opened(second)).toEqual({ plaintext: "BBBB" });
  const fresh = (await there("POST", `${path}/encrypt`, { plaintext: "CCCC" })).body.ciphertext;
  expect(await opened(fresh)).toEqual({ plaintext: "CCCC" });
  expect(await partnerFacing(spare.rig)).toEqual(identity);
  expect(await spare.rig.gateway.services.read.get(organizationKeyRecords, "acme")).toEqual(working);
  const { events } = (await there("GET", "/api/v1/audit?event_type=backup.restore")).body;
  expect(events).toMatchObject([{ metadata: { backup_id: backup.id, checksum: backup.checksum, vault_key: "carried" } }]);
  expect((await there("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);

  // And it lasts: the instance that was restored starts again, and its own backups are whole.
  await spare.stop();
  const again = await machine(spareFolder, "spare", { issuer, organizations: [] });
  const anew = again.rig.bearer({ sub: admin, org: "acme", roles: ["super_admin"] });
  expect((await anew("POST", `${path}/decrypt`, { ciphertext: fresh })).body).toEqual({ plaintext: "CCCC" });
  await again.stop();

  // Where documents of the organisation are sealed by another key of its name, that key is not taken away.
  const taken = await machine(empty(backups, unseal), "taken", { issuer, organizations: ["globex"] });
  await taken.vault.createKey(kekName("acme"));
  const sealed = await taken.vault.encrypt(kekName("acme"), Uint8Array.of(7));
  expect(told(await restoring(taken.rig, backup, other, "acme"))).toEqual([422, "VAULT_MISMATCH"]);
  expect(await taken.vault.decrypt(kekName("acme"), sealed)).toEqual(Uint8Array.of(7));
});

/** Signs with the same shares on the instance that was restored. */
async function signOn(caller: Caller, { shares, publicKey }: RootKey, operation: string, resource_id: string): Promise<string> {
  const prepared = await caller("POST", "/api/v1/crk/signing-requests", { operation, resource_id, body: {} });
  expect(prepared.status, prepared.text).toBe(201);
  const data = prepared.body.message;
  const made = await caller("POST", "/api/v1/crk/sign", { shares: shares.slice(0, 2), public_key: publicKey, data });
  expect(made.status, made.text).toBe(200);
  return made.body.signature;
}
