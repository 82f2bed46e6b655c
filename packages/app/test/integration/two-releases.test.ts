import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { ownAddress } from "../../../../tools/own-address.ts";
import { federate } from "../gateway/federated.ts";
import { type GatewayInstance, startGateway } from "./gateway-instance.ts";
import * as scheduler from "./scheduler-fleet.ts";
import * as storage from "./storage-fleet.ts";

/** A checkout of the release before, with its dependencies installed. */
const before = process.env["RELEASE_BEFORE"];
const WAIT = { timeout: 120_000, interval: 200 };
const here = new URL("../../../..", import.meta.url).pathname;

describe.skipIf(before === undefined)("processes of the release before and of this one serve together", () => {
  it.skipIf(!storage.fleetInstalled())(
    "three storage nodes become this release one after the other, while objects are written: each release reads what the other wrote, nothing acknowledged is lost, and repairs go on",
    { timeout: 900_000 },
    async () => {
      const names = ["n1", "n2", "n3"];
      // Without the settings that came since 0.1.
      const change = (config: storage.FleetConfig): object => Object.assign({}, config, { device_roots: undefined });
      const fleet = await storage.startFleet(names, { checkout: before, change });
      const all = [0, 1, 2];
      try {
        for (const at of [...all, ...all]) await storage.until("an object is written", () => fleet.write(at));
        for (const next of all) {
          const others = all.filter((at) => at !== next);
          const since = fleet.tried;
          let writing = true;
          const writers = others.map(async (through) => {
            while (writing) await fleet.write(through);
          });
          await storage.until("writes are under way", async () => fleet.tried > since + 3);
          await fleet.kill(next);
          await storage.until("writes go on", async () => (await Promise.all(others.map(fleet.write))).includes(true));
          await fleet.start(next, undefined, here);
          await fleet.healthy(all);
          writing = false;
          await Promise.all(writers);
          await storage.until("writes go on through it", () => fleet.write(next));
          for (const through of all) await fleet.checkAll(through);
          await storage.until("a scrub finds everything as it should be", async () => {
            const { body } = await fleet.http(next, "POST", "/ui/api/ops/scrub", {});
            const { state, result } = await fleet.finished(next, body.job_id);
            expect({ state, lost: result["lost"] }).toEqual({ state: "succeeded", lost: 0 });
            return result["healthy"] === result["scanned"];
          });
        }
      } finally {
        await fleet.destroy();
      }
    },
  );

  it.skipIf(!etcdInstalled())(
    "three schedulers become this release one after the other, while work is submitted: all come to one state by one log, and no limit is exceeded",
    { timeout: 900_000 },
    async () => {
      const etcd = await startEtcdCluster();
      const fleet = await scheduler.startFleet(3, { kind: "etcd", endpoints: etcd.endpoints, prefix: "/two-releases" }, before);
      const { call, insist } = scheduler;
      try {
        for (const name of ["physics", "biology"])
          await insist(fleet, 0, "POST", "/api/v1/tenants", { name, max_nodes: 3 }, name);
        for (let n = 0; n < 8; n++) await insist(fleet, n, "POST", "/api/v1/nodes", { id: `n${n}` }, `n${n}`);
        let working = true;
        const acknowledged = new Set<string>();
        const submitter = async (tenant: string): Promise<void> => {
          for (let i = 0; working; i++) {
            const answer = await insist(fleet, i, "POST", "/api/v1/allocations", { tenant }, `${tenant}-${i}`);
            // 429: as much waits as the tenant may ask for.
            expect([201, 429], JSON.stringify(answer.body)).toContain(answer.status);
            if (answer.status === 201) acknowledged.add(answer.body.id);
            await insist(fleet, i + 1, "POST", "/api/v1/admin/cycle");
            const { body: running } = await insist(fleet, i + 2, "GET", `/api/v1/allocations?tenant=${tenant}&state=running`);
            expect(running.length).toBeLessThanOrEqual(3);
            if (i % 2 === 1) {
              const { id } = running[0] ?? {};
              if (id !== undefined) await insist(fleet, i, "POST", `/api/v1/allocations/${id}/complete`);
            }
          }
        };
        /** Throws until all have read as much of the log and made the same of it. */
        const haveOneState = async (): Promise<void> => {
          const told = await Promise.all(
            fleet.urls.map(async (url) => (await call(url, "GET", "/api/v1/raft/status?hash=true")).body),
          );
          expect(new Set(told.map(({ last_applied }) => last_applied)).size).toBe(1);
          expect(new Set(told.map(({ state_hash }) => state_hash))).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{64}$/)]));
        };
        const writers = ["physics", "biology"].map(submitter);
        const further = async (): Promise<void> => {
          const since = acknowledged.size;
          while (acknowledged.size < since + 10) await Promise.race([wait(20), ...writers]);
        };
        await further();
        for (const at of [2, 0, 1]) {
          await fleet.kill(at);
          await further();
          await fleet.start(at, here);
          await further();
        }
        working = false;
        await Promise.all(writers);
        await vi.waitFor(haveOneState, WAIT);
        for (const id of acknowledged) expect((await insist(fleet, 0, "GET", `/api/v1/allocations/${id}`)).status).toBe(200);
      } finally {
        await fleet.destroy();
        await etcd.destroy();
      }
    },
  );

  it("two partners, one of each release, share workspaces both ways, when the other becomes this release too, and end it", {
    timeout: 600_000,
  }, async () => {
    const [a, b] = [await ownAddress(), await ownAddress()];
    const [old, fresh] = await Promise.all([
      startGateway({ org: "acme", ...a, server: "express" }, { checkout: before }),
      startGateway({ org: "globex", ...b, server: "fastify" }),
    ]);
    const soon = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, WAIT);
    const base = "/api/v1/workspaces";
    const plaintext = Buffer.from("one for both").toString("base64");
    const seal = async (at: GatewayInstance, id: string): Promise<string> =>
      (await at.call("POST", `${base}/${id}/encrypt`, { plaintext })).body.ciphertext;
    const reads = (at: GatewayInstance, id: string, ciphertext: string): Promise<void> =>
      soon(async () => {
        const { body, text } = await at.call("POST", `${base}/${id}/decrypt`, { ciphertext });
        expect(body, text).toEqual({ plaintext });
      });
    const shared: { id: string; owner: GatewayInstance; partner: GatewayInstance; sealed: string[] }[] = [];
    /** What both sides can do with what they share, in every state of it. */
    const use = async (): Promise<void> => {
      for (const { id, owner, partner, sealed } of shared) {
        expect((await owner.call("POST", `${base}/${id}/rotate-dek`)).status).toBe(204);
        sealed.push(await seal(owner, id));
        for (const one of sealed) await reads(partner, id, one);
        sealed.push(await seal(partner, id));
        for (const one of sealed) await reads(owner, id, one);
        const purpose = `use ${sealed.length}`;
        expect((await owner.call("PUT", `${base}/${id}`, { purpose })).status).toBe(200);
        await soon(async () => expect((await partner.call("GET", `${base}/${id}`)).body).toMatchObject({ purpose }));
      }
    };
    const share = async (owner: GatewayInstance, partner: GatewayInstance): Promise<void> => {
      const made = await owner.call("POST", base, { name: `the ${shared.length + 1}th of two releases` });
      expect(made.status, made.text).toBe(201);
      const { id } = made.body;
      const invited = await owner.call("POST", `${base}/${id}/invite`, { org_id: partner.org });
      expect(invited.status, invited.text).toBe(201);
      await soon(async () => expect((await partner.call("POST", `${base}/${id}/accept-invitation`, {})).status).toBe(204));
      shared.push({ id, owner, partner, sealed: [] });
    };
    try {
      await federate(old, fresh);
      await share(old, fresh);
      await share(fresh, old);
      await use();
      await old.kill();
      await old.start(here);
      await use();
      await share(old, fresh);
      await use();
      for (const side of [old, fresh]) expect((await side.call("POST", "/api/v1/audit/verify", {})).body.valid).toBe(true);
      const ended = { notify_partner: true };
      expect((await fresh.signed("federation.revoke", "acme", "DELETE", "/api/v1/federation/acme", ended)).status).toBe(204);
      for (const { id, partner } of shared)
        await soon(async () => {
          expect((await partner.call("POST", `${base}/${id}/encrypt`, { plaintext })).status).toBe(404);
        });
    } finally {
      await Promise.all([old.destroy(), fresh.destroy()]);
    }
  });
});
