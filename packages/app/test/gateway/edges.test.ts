import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { startVaultEmulator, type VaultEmulator } from "@seneschal/adapters/vault/emulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverCertificate } from "../../src/gateway/index.ts";
import { edges } from "../../src/gateway/partners/collections.ts";
import { openSide, type Side } from "./federated.ts";

const base = "/api/v1/edges";
const absent = "00000000-0000-7000-8000-000000000000";

describe("edge nodes", () => {
  let acme: Side;
  let emulator: VaultEmulator;
  let ca: string;
  let silent: Server;
  let count = 0;
  beforeAll(async () => {
    acme = await openSide("acme");
    const tls = await serverCertificate(acme.rig.gateway.services, { names: ["127.0.0.1"], now: acme.rig.clock.now() });
    ca = tls.ca;
    emulator = await startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: Date.now, tls });
    silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await emulator.close();
    silent.closeAllConnections();
    silent.close();
    await acme.rig.close();
  });

  const register = (given: object = {}) => {
    const body = {
      name: `edge-${++count}`,
      vault_address: emulator.address,
      vault_token: emulator.rootToken,
      vault_ca_cert: ca,
      ...given,
    };
    return acme.call("POST", base, body);
  };
  const read = async (path: string) => {
    const answer = await fetchSecret(path);
    return answer?.["data"];
  };
  const fetchSecret = async (path: string) => {
    const { services } = acme.rig.gateway;
    const { connectVault } = await import("@seneschal/adapters/vault");
    const connection = connectVault({
      address: emulator.address,
      auth: { kind: "token", token: emulator.rootToken },
      ca,
      now: Date.now,
    } as const);
    const { data } = await connection.call("GET", `${services.config.edges.kv_mount}/data/seneschal/${path}`);
    connection.close();
    return data;
  };

  it("a node is registered with its place and tags, its token sealed and never shown", async () => {
    const created = await register({ region: "eu-1", tags: { tier: "gold" }, classification: "SECRET" });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({ status: "connected", region: "eu-1", tags: { tier: "gold" }, classification: "SECRET" });
    expect(created.text).not.toContain(emulator.rootToken);
    const stored = await acme.rig.store.get(edges.name, created.body.id);
    expect(JSON.stringify(stored)).not.toContain(emulator.rootToken);
    expect((await acme.call("GET", `${base}/${created.body.id}`)).body).toEqual(created.body);
    expect((await acme.call("GET", base)).body).toMatchObject({ count: 1, total: 1 });
    const again = await register({ name: created.body.name });
    expect([again.status, again.body.error.code]).toEqual([409, "CONFLICT"]);
    expect((await acme.call("DELETE", `${base}/${created.body.id}`)).status).toBe(204);
    expect((await acme.call("GET", `${base}/${created.body.id}`)).status).toBe(404);
    expect((await acme.call("GET", `${base}/${absent}`)).status).toBe(404);
  });

  it("a node that does not answer, answers late, or shows another certificate is kept as disconnected", async () => {
    const silentAt = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    for (const given of [{ vault_address: "https://127.0.0.1:1" }, { vault_address: silentAt }, { vault_ca_cert: "" }]) {
      const answer = await register(given);
      expect([answer.status, answer.body.status, answer.body.last_heartbeat]).toEqual([201, "disconnected", null]);
      const health = await acme.call("GET", `${base}/${answer.body.id}/health`);
      expect(health.body).toMatchObject({ healthy: false, error_message: "the edge node does not answer" });
    }
  });

  it.each([
    "https://10.0.0.1:8200",
    "https://169.254.169.254",
    "https://[fd00::1]:8200",
    "https://user:pass@vault.example",
    "https://vault.example/v1/sys",
    "file:///etc/passwd",
    "gopher://vault.example",
  ])("vault_address %s is refused", async (vault_address) => {
    const answer = await register({ vault_address });
    expect([answer.status, answer.body.error.details.field]).toEqual([400, "vault_address"]);
  });

  it.each(["", "two words", "line\nbreak", "\u0002", "z\u00e9ro", "\ud83d\ude00"])(
    "a token that no header can carry is refused: %j",
    async (vault_token) => {
      const answer = await register({ vault_token });
      expect([answer.status, answer.body.error.details.field]).toEqual([400, "vault_token"]);
    },
  );

  it("health tells sealed from healthy, and is kept", async () => {
    const { body: edge } = await register();
    const healthy = (await acme.call("GET", `${base}/${edge.id}/health`)).body;
    expect(healthy).toMatchObject({ healthy: true, status: "healthy", version: "emulator", cluster_nodes: 1, error_message: "" });
    emulator.setSealed(true);
    const sealed = (await acme.call("GET", `${base}/${edge.id}/health`)).body;
    const failed = await acme.call("POST", `${base}/${edge.id}/sync/policies`);
    emulator.setSealed(false);
    expect(sealed).toMatchObject({ healthy: false, status: "sealed", vault_sealed: true });
    expect((await acme.call("GET", `${base}/${edge.id}`)).body.status).toBe("sealed");
    // Without policies there is nothing to write, and nothing to fail.
    expect(failed.status).toBe(204);
  });

  it("keys and policies are really written; a failed push is a 503 and counted", async () => {
    const { body: edge } = await register();
    const { body: workspace } = await acme.call("POST", "/api/v1/workspaces", { name: `w-${edge.id}` });
    const rego = `package gateway.workspace["${workspace.id}"]\nallow := true\n`;
    const body = { name: "p", workspace: workspace.id, rego };
    const crk_signature = await acme.key.sign("policy.create", "", body);
    const { body: policy } = await acme.call("POST", "/api/v1/policies", { ...body, crk_signature });
    const sync = (what: string, given?: object) => acme.call("POST", `${base}/${edge.id}/sync/${what}`, given);
    expect((await sync("policies")).status).toBe(204);
    expect(await read(`policies/${policy.id}`)).toMatchObject({ name: "p", workspace: workspace.id, rego, version: 1 });
    const wrapped_dek = Buffer.from("wrapped").toString("base64");
    expect((await sync("keys", { workspace_id: workspace.id, wrapped_dek })).status).toBe(204);
    expect(await read(`keys/${workspace.id}`)).toMatchObject({ wrapped_dek, org_id: "acme", dek_version: 1 });
    expect((await sync("keys", { workspace_id: absent, wrapped_dek })).status).toBe(404);
    expect((await sync("policies", { policies: [absent] })).status).toBe(400);
    emulator.setSealed(true);
    const failed = await sync("policies", { policies: [policy.id] });
    emulator.setSealed(false);
    expect([failed.status, failed.body.error.code]).toEqual([503, "EDGE_UNREACHABLE"]);
    expect((await acme.call("GET", `${base}/${edge.id}/sync/status`)).body).toMatchObject({
      policies_synced: 1,
      keys_synced: 1,
      error_count: 1,
      sync_in_progress: false,
      last_error: "the edge node's vault refused with status 503",
    });
  });

  it("a wrong token fails the push, not the registration", async () => {
    const { body: edge } = await register({ vault_token: "wrong" });
    const { body: workspace } = await acme.call("POST", "/api/v1/workspaces", { name: `t-${edge.id}` });
    const failed = await acme.call("POST", `${base}/${edge.id}/sync/keys`, { workspace_id: workspace.id, wrapped_dek: "AAAA" });
    expect([failed.status, failed.text.includes("wrong")]).toEqual([503, false]);
  });
});
