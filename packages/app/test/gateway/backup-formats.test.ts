import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { bodyHash, operationBytes } from "@seneschal/crypto/signing";
import { type CrkPublicJson, crkFromJson, signWithShares } from "@seneschal/crypto/threshold";
import type { JsonObject } from "@seneschal/kernel";
import { expect, it } from "vitest";
import { backupCollections, passing } from "../../src/gateway/oversight/backups/backup-collections.ts";
import { upgraded } from "../../src/gateway/oversight/backups/payload.ts";
import { gatewayCollectionList } from "../../src/gateway/resources.ts";
import { openRig } from "./rig.ts";

it("every collection is in backups or is left out for a reason, and none is both", () => {
  const kept = backupCollections.map(({ collection }) => collection.name);
  const left = passing.map(([{ name }]) => name);
  expect([...kept, ...left].sort()).toEqual(gatewayCollectionList.map(({ name }) => name).sort());
  for (const [{ name }, reason] of passing) expect(reason.length, name).toBeGreaterThan(10);
});

it("what lies below something is looked for behind it", () => {
  for (const [i, { where }] of backupCollections.entries()) {
    if (!("parent" in where)) continue;
    expect(backupCollections.slice(0, i).map(({ collection }) => collection.name)).toContain(where.parent);
  }
});

it("documents of an earlier version of their collection are restored through its upgrade steps, those of a later one never", () => {
  const add = (member: string) => (doc: JsonObject) => ({ ...doc, [member]: true });
  const rooms = { name: "rooms", version: 3, upgrade: { 2: add("two"), 3: add("three") } };
  expect(upgraded(rooms, { id: "a", doc: {} })).toEqual({ two: true, three: true });
  expect(upgraded(rooms, { id: "a", doc: {}, version: 2 })).toEqual({ three: true });
  expect(upgraded(rooms, { id: "a", doc: {}, version: 3 })).toEqual({});
  expect(upgraded({ name: "plain" }, { id: "a", doc: { b: 1 } })).toEqual({ b: 1 });
  for (const version of [0, 4, 1.5])
    expect(() => upgraded(rooms, { id: "a", doc: {}, version })).toThrow(expect.objectContaining({ code: "BUNDLE_INVALID" }));
});

interface Fixture {
  readonly unseal_key: string;
  readonly vault: readonly { coll: string; id: string; doc: Record<string, never> }[];
  readonly backup_id: string;
  readonly checksum: string;
  readonly file: string;
  readonly admin_id: string;
  readonly crk: { readonly id: string; readonly version: number; readonly material: CrkPublicJson };
  readonly shares: readonly { readonly index: number; readonly data: string }[];
  readonly workspace_id: string;
  readonly group_id: string;
  readonly ciphertext: string;
  readonly context: Readonly<Record<string, string>>;
  readonly plaintext: string;
}

it.each([1])("a stored backup of format %i still restores into a clean instance, with its old ciphertexts", async (format) => {
  const read = (): string => readFileSync(new URL(`fixtures/backup-format-${format}.json`, import.meta.url), "utf8");
  const fixture = JSON.parse(read()) as Fixture;
  const location = mkdtempSync(join(tmpdir(), "seneschal-formats-"));
  writeFileSync(join(location, `${fixture.backup_id}.backup`), fixture.file);
  const store = openMemoryStore({ collections: vaultCollections });
  await store.commit({ commitId: "fixture", puts: fixture.vault.map(({ coll, id, doc }) => ({ coll, id, doc })) });
  const vault = await openEmbeddedVault({
    store,
    crypto: nodeCrypto,
    random: systemRandom,
    clock: settableClock(Date.now()),
    unseal: { kind: "key", key: new Uint8Array(Buffer.from(fixture.unseal_key, "base64")) },
  });
  const rig = await openRig({ vault, organizations: [], settings: { backup: { location }, server: { instance_id: "spare" } } });
  const operator = rig.bearer({ sub: "operator", org: "anywhere", roles: ["super_admin"] });
  const iat = Math.floor(rig.clock.now() / 1000);
  const signature_params = { nonce: "n".repeat(24), iat, exp: iat + 300 };
  const message = operationBytes({
    v: 1,
    op: "backup.restore",
    org_id: "acme",
    audience: "spare",
    resource_type: "backup",
    resource_id: fixture.backup_id,
    body_sha256: bodyHash({ checksum: fixture.checksum }),
    crk_id: fixture.crk.id,
    crk_epoch: fixture.crk.version,
    ...signature_params,
  });
  const signed = signWithShares(crkFromJson(fixture.crk.material), fixture.shares.slice(0, 2), message, systemRandom);
  const restored = await operator("POST", `/api/v1/backups/${fixture.backup_id}/restore`, {
    crk_signature: Buffer.from(signed).toString("base64"),
    signature_params,
  });
  expect(restored.status, restored.text).toBe(204);

  const admin = rig.bearer({ sub: fixture.admin_id, org: "acme", roles: ["super_admin"] });
  const path = `/api/v1/workspaces/${fixture.workspace_id}`;
  expect((await admin("GET", path)).body).toMatchObject({ name: "ledger", dek_version: 2, purpose: "kept" });
  const opened = await admin("POST", `${path}/decrypt`, { ciphertext: fixture.ciphertext, context: fixture.context });
  expect(opened.body, opened.text).toEqual({ plaintext: fixture.plaintext });
  expect((await admin("GET", `/api/v1/identities/groups/${fixture.group_id}`)).body.name).toBe("treasury");
  expect((await admin("GET", `${path}/rotation-policy`)).body.max_age).toBe("720h");
  await rig.close();
  rmSync(location, { recursive: true });
});
