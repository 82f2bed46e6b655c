import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import type { Contract, Serve } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { storageContract } from "@seneschal/contract/storage";
import { Share } from "@seneschal/crypto/threshold";
import type { JsonObject } from "@seneschal/kernel";
import { serve } from "@seneschal/server-fastify";
import { serveS3 } from "@seneschal/server-s3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { initVaultShares, rekeyServiceVault, verifyVaultRekey } from "../../src/compose/operate-vault.ts";
import { type ProcessConfig, processSettings } from "../../src/compose/process-settings.ts";
import { startProcess } from "../../src/compose/start-process.ts";
import { openGatewayStore } from "../../src/gateway/service.ts";
import type { SealedVault } from "../../src/platform/index.ts";

const log = openLogger({ level: "silent" });
const services = ["gateway", "storage"] as const;
const contracts: Readonly<Record<(typeof services)[number], Contract>> = { gateway: gatewayContract, storage: storageContract };
const dealt: Record<string, readonly string[]> = {};
let dir: string;
let config: ProcessConfig;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-sealed-"));
  const sealed = { server: { port: 0 }, vault: { seal: { kind: "shamir" } } };
  config = processSettings.parse({ services, data_dir: dir, gateway: sealed, storage: { ...sealed, s3: { port: 0 } } });
  for (const service of services) dealt[service] = (await initVaultShares(config, service, { shares: 4, threshold: 3 })).shares;
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A process whose services listen, whether or not their vaults are open. */
async function begin() {
  const urls: string[] = [];
  let all = (): void => undefined;
  const listening = new Promise<void>((resolve) => {
    all = resolve;
  });
  const watched: Serve = async (dispatch, options) => {
    const server = await serve(dispatch, options);
    urls.push(server.url);
    if (urls.length === services.length) all();
    return server;
  };
  const ended = new AbortController();
  const starting = startProcess(config, { serve: watched, serveS3, log, version: "1.2.3", signal: ended.signal });
  starting.catch(() => undefined);
  await listening;
  const kinds = await Promise.all(urls.map(async (url) => ((await fetch(`${url}/live`)).status === 200 ? "gateway" : "storage")));
  const at = (service: string): string => urls[kinds.indexOf(service as "gateway")] ?? "";
  return { at, starting, ended };
}

const post = async (url: string, path: string, body: object): Promise<{ status: number; body: JsonObject }> => {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as JsonObject };
};
const status = async (url: string) => (await (await fetch(`${url}/sys/seal-status`)).json()) as JsonObject;
const codeOf = ({ body }: { body: JsonObject }) => (body["error"] as JsonObject)["code"];

/** A share of the seal whose secret part is another. */
function forged(text: string): string {
  const share = Share.decode(text);
  const payload = share.payload();
  payload[0] = (payload[0] ?? 0) ^ 1;
  return new Share(share, payload).encode();
}

async function unseal(url: string, shares: readonly string[]): Promise<JsonObject> {
  let state = await status(url);
  for (const key of shares) {
    const nonce = state["nonce"] === "" ? {} : { nonce: state["nonce"] };
    const given = await post(url, "/sys/unseal", { key, ...nonce });
    expect(given.status).toBe(200);
    state = given.body;
  }
  return state;
}

/** Until the service answers so: it is built anew meanwhile. */
async function ready(url: string, wanted: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/ready`);
    await answer.arrayBuffer();
    if (answer.status === wanted) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

it("a process whose vaults are sealed says so at its probes, and answers every other route with 503, its code, and when to return", async () => {
  const { at, starting, ended } = await begin();
  try {
    for (const service of services) {
      const url = at(service);
      const probes = await Promise.all(
        ["/live", "/health", "/ready"].map(async (path) => {
          const answer = await fetch(url + path);
          return [path, answer.status, await answer.json()] as const;
        }),
      );
      for (const [, , body] of probes.filter(([path]) => service === "gateway" || path !== "/live"))
        expect(body).toMatchObject({ sealed: true });
      expect(Object.fromEntries(probes)).toEqual(
        service === "gateway" ? { "/live": 200, "/health": 503, "/ready": 503 } : { "/live": 503, "/health": 200, "/ready": 503 },
      );
      for (const { method, path } of [...Object.values(contracts[service]), { method: "GET", path: "/nowhere" }]) {
        if (probes.some(([probe]) => probe === path)) continue;
        const target = url + path.replace(/:[a-z0-9_]+/g, "x");
        const answer = await fetch(target, { method, ...(method === "GET" ? {} : { body: "{}" }) });
        const { error } = (await answer.json()) as { error: JsonObject };
        expect([path, answer.status, error["code"]]).toEqual([path, 503, "VAULT_SEALED"]);
        expect(answer.headers.get("retry-after")).toBe("5");
        expect(answer.headers.get("x-request-id")).not.toBeNull();
      }
      expect(await status(url)).toEqual({
        type: "shamir",
        initialized: true,
        sealed: true,
        t: 3,
        n: 4,
        progress: 0,
        nonce: "",
        version: "1.2.3",
      });
    }
  } finally {
    ended.abort();
  }
  await expect(starting).rejects.toMatchObject({ name: "AbortError" });
});

it("operators unseal with one share at a time; a wrong one is found when it comes and ends the attempt, a stranger's costs nothing; one seals", async () => {
  const { at, starting, ended } = await begin();
  try {
    const url = at("gateway");
    const [a = "", b = "", c = "", d = ""] = dealt["gateway"] ?? [];
    const give = (key: string, nonce?: unknown) => post(url, "/sys/unseal", { key, ...(nonce === undefined ? {} : { nonce }) });

    const first = await give(a);
    expect(first.body).toMatchObject({ sealed: true, progress: 1 });
    const { nonce } = first.body;
    expect(await give(a, nonce)).toEqual(first);
    expect(JSON.stringify(first.body)).not.toContain(a);
    for (const stranger of ["nonsense", dealt["storage"]?.[0] ?? ""])
      expect([(await give(stranger, nonce)).status, (await status(url))["progress"]]).toEqual([422, 1]);
    expect(codeOf(await give(b))).toBe("STATE_CONFLICT");
    const bad = await give(forged(b), nonce);
    expect([bad.status, codeOf(bad)]).toEqual([422, "SHARE_INVALID"]);
    expect(await status(url)).toMatchObject({ progress: 0, nonce: "" });
    // What came in another attempt counts no more: three shares are needed anew.
    expect((await give(b, nonce)).status).toBe(409);
    expect(await unseal(url, [b, c, d])).toMatchObject({ sealed: false });
    expect(await unseal(at("storage"), (dealt["storage"] ?? []).slice(0, 3))).toMatchObject({ sealed: false });

    const running = await starting;
    await ready(url, 200);
    expect(await status(url)).toMatchObject({ type: "shamir", sealed: false, t: 3, n: 4, progress: 0 });
    const gateway = running.services.find(({ name }) => name === "gateway");
    expect(await gateway?.health()).toMatchObject({ ready: true });

    for (const key of ["nonsense", forged(a)]) expect((await post(url, "/sys/seal", { key })).status).toBe(422);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    expect((await post(url, "/sys/seal", { key: a })).body).toMatchObject({ sealed: true });
    while ((await (await fetch(`${url}/health`)).json())["sealed"] !== true)
      await new Promise((resolve) => setImmediate(resolve));
    expect(await gateway?.health()).toMatchObject({ ready: false });
    expect(await unseal(url, [d, a, c])).toMatchObject({ sealed: false });
    await ready(url, 200);
    expect(await gateway?.health()).toMatchObject({ ready: true });
    await running.stop();
  } finally {
    ended.abort();
  }

  const store = await openGatewayStore(config.gateway.database, dir);
  try {
    const acts = (await store.auditRead(0, 1000)).map(({ stream, event }) => [stream, event["event_type"], event["result"]]);
    const own = acts.filter(([, type]) => String(type).startsWith("vault."));
    expect(own).toEqual(
      [
        ["vault.init", "success"],
        ["vault.unseal", "denied"],
        ["vault.unseal", "success"],
        ["vault.seal", "denied"],
        ["vault.seal", "success"],
        ["vault.unseal", "success"],
      ].map((act) => ["/instance", ...act]),
    );
    // Nothing was done before the vault was open.
    expect(acts.slice(0, 3)).toEqual(own.slice(0, 3));
  } finally {
    await store.close();
  }
});

it("shares are limited by address, so that nobody tries many", async () => {
  const { at, starting, ended } = await begin();
  try {
    const answers = await Promise.all(Array.from({ length: 11 }, () => post(at("gateway"), "/sys/unseal", { key: "nonsense" })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array<number>(10).fill(422), 429]);
  } finally {
    ended.abort();
    await starting.catch(() => undefined);
  }
});

it("a rekey of a service deals shares that are in force when enough of them were shown, and shares of before open nothing then", async () => {
  const bring = (shares: readonly string[]) => async (vault: SealedVault) => {
    let nonce: string | undefined;
    for (const key of shares) ({ nonce } = await vault.unseal({ key, nonce, now: Date.now(), address: "here", requestId: "" }));
    return vault.opened;
  };
  const old = dealt["storage"] ?? [];
  const dealing = { shares: 3, threshold: 2 };
  const { shares, in_force } = await rekeyServiceVault(config, "storage", config, { ...dealing, bring: bring(old.slice(1)) });
  expect([shares.length, in_force]).toEqual([3, false]);
  await expect(verifyVaultRekey(config, "storage", bring(old))).rejects.toMatchObject({ code: "share_invalid" });
  await verifyVaultRekey(config, "storage", bring(shares.slice(1)));
  await expect(rekeyServiceVault(config, "storage", config, { ...dealing, bring: bring(old) })).rejects.toMatchObject({
    code: "share_invalid",
  });
  const key_file = join(dir, "new.key");
  const next = {
    ...config,
    storage: { ...config.storage, vault: { ...config.storage.vault, seal: { kind: "key_file" as const, key_file } } },
  };
  expect(await rekeyServiceVault(config, "storage", next, { ...dealing, bring: bring(shares) })).toEqual({
    shares: [],
    in_force: true,
  });
  await expect(rekeyServiceVault(next, "storage", next, { ...dealing, bring: bring([]) })).rejects.toThrow(
    /name another key file/,
  );
});
