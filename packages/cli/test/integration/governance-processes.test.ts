import type { ChildProcess } from "node:child_process";
import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { type Address, ownAddress } from "../../../../tools/own-address.ts";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { endProcess, startServe } from "./serve-process.ts";

const WAIT = { timeout: 120_000, interval: 100 };
const TIERS = ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "PROPRIETARY", "RESTRICTED"];
const request = {
  operation_type: "EXPORT",
  source_resources: ["crm"],
  destination_resource: "dwh",
  user_context: { user_id: "ann", role: "analyst", department: "" },
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
type Answer = { readonly status: number; readonly body: any };

it.skipIf(postgresBinaries() === undefined)(
  "two governance processes on one PostgreSQL under load, one killed and started anew: what was acknowledged is there once, decided once and provable, and both answer alike",
  async () => {
    const root = await mkdtemp(join(tmpdir(), "seneschal-governance-"));
    const [postgres, ...addresses] = await Promise.all([startPostgres(), ownAddress(), ownAddress()]);
    const children = new Set<ChildProcess>();
    const serving: ChildProcess[] = [];
    const { privateKey } = generateKeyPairSync("ed25519");
    const start = async (at: number): Promise<void> => {
      const { host, port } = addresses[at] as Address;
      const own = [`governance.server.host=${host}`, `governance.server.port=${port}`, `data_dir=${root}/data-${at}`];
      serving[at] = await startServe(["serve", "-c", join(root, "seneschal.yaml"), "--set", ...own], process.env, children);
    };
    /** What a process says; rejects where it says nothing. */
    const call = async (at: number, method: string, path: string, body?: unknown, key = "root"): Promise<Answer> => {
      const { host, port } = addresses[at] as Address;
      const response = await fetch(`http://${host}:${port}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    };
    try {
      const key = (id: string, scopes: readonly string[]) => ({
        id,
        scopes,
        sha256: createHash("sha256").update(id).digest("hex"),
      });
      const config = {
        services: ["governance"],
        log: { level: "warn" },
        governance: {
          server: { instance_id: "governance" },
          database: { kind: "postgres", url: postgres.url },
          api_keys: [key("root", ["admin"]), key("asker", ["evaluate"])],
          rate_limit: { authenticated: { limit: 1_000_000 } },
          classification: { threads: 0 },
          checkpoint_interval: "1s",
        },
      };
      // YAML is a superset of JSON.
      await writeFile(join(root, "seneschal.yaml"), JSON.stringify(config));
      for (const at of [0, 1]) {
        await mkdir(join(root, `data-${at}`), { mode: 0o700 });
        const pem = privateKey.export({ type: "pkcs8", format: "pem" });
        await writeFile(join(root, `data-${at}/governance-audit-key.pem`), pem, { mode: 0o600 });
      }
      await Promise.all([start(0), start(1)]);
      await call(0, "PUT", "/resources/crm", { tier: "CONFIDENTIAL" });
      await call(0, "PUT", "/resources/dwh", { accepts_tier: "INTERNAL" });

      let over = false;
      let rounds = 0;
      const strange: string[] = [];
      const kept = { keys: [] as string[], decisions: [] as string[], tiers: new Map<string, string>(), edges: [] as string[] };
      const approvals: { readonly id: string; readonly given: number; readonly unanswered: number }[] = [];
      /** An answer, or nothing from a process that is not there; 503 says that the same may be asked again. */
      const tried = async (at: number, method: string, path: string, body: unknown, ok: number, who?: string) => {
        const answer = await call(at, method, path, body, who).catch(() => undefined);
        if (answer === undefined || answer.status === ok) return answer;
        if (answer.status !== 503) strange.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
        return undefined;
      };
      const client = async (at: number): Promise<void> => {
        while (!over) {
          const name = randomUUID();
          const tier = TIERS[rounds % TIERS.length] as string;
          if (await tried(at, "PUT", `/resources/${name}`, { tier }, 200)) kept.tiers.set(name, tier);
          const event = {
            eventType: "COMPLETE",
            eventTime: new Date().toISOString(),
            producer: "https://example.com",
            schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json",
            run: { runId: name },
            job: { namespace: "default", name: `job ${name}` },
            inputs: [{ namespace: "default", name }],
            outputs: [{ namespace: "default", name: `out-${name}` }],
          };
          if (await tried(at, "POST", "/lineage", event, 201)) kept.edges.push(name);
          if (await tried(at, "POST", "/api-keys", { name, scopes: ["classify"] }, 201)) kept.keys.push(name);
          const decided = await tried(at, "POST", "/evaluate", request, 200, "asker");
          if (decided !== undefined) kept.decisions.push(decided.body.decision_id);
          const asked = await tried(at, "POST", "/approvals", { request, reason: "load" }, 201, "asker");
          if (asked !== undefined) {
            // Both decide it at the same time, in two ways.
            const both = await Promise.all(
              (["approve", "reject"] as const).map((decision, i) =>
                call(i, "POST", `/approvals/${asked.body.id}/decision`, { decision, user_id: "bob" }).catch(() => undefined),
              ),
            );
            const of = (status: number) => both.filter((answer) => answer?.status === status).length;
            for (const answer of both)
              if (answer !== undefined && ![200, 409, 503].includes(answer.status)) strange.push(JSON.stringify(answer));
            approvals.push({ id: asked.body.id, given: of(200), unanswered: 2 - of(200) - of(409) });
          }
          rounds++;
        }
      };
      const clients = Promise.all([0, 1, 0, 1].map(client));
      clients.catch(() => undefined);
      const more = (count: number): Promise<unknown> => {
        const from = kept.decisions.length;
        return vi.waitUntil(() => kept.decisions.length >= from + count, WAIT);
      };
      await more(12);
      await endProcess(serving[0], "SIGKILL");
      await more(12);
      await start(0);
      await more(12);
      over = true;
      await clients;
      expect(strange).toEqual([]);

      // A decision that was acknowledged is the only one; where nobody heard, there is one at most.
      for (const { id, given, unanswered } of approvals) {
        expect(given).toBeLessThanOrEqual(1);
        const [one, two] = await Promise.all([0, 1].map((at) => call(at, "GET", `/approvals/${id}`)));
        expect(two?.body).toEqual(one?.body);
        if (unanswered === 0 || given === 1) expect(["approved", "rejected"]).toContain(one?.body.status);
      }
      expect(approvals.some(({ given }) => given === 1)).toBe(true);
      const seen = await Promise.all(
        [0, 1].map(async (at) => {
          const names = new Map<string, number>();
          for (const { name } of (await call(at, "GET", "/api-keys")).body.api_keys) names.set(name, (names.get(name) ?? 0) + 1);
          const tiers = new Map<string, string>();
          for (let offset = 0, total = 1; offset < total; offset += 1000) {
            const { body } = await call(at, "GET", `/resources?limit=1000&offset=${offset}`);
            total = body.total;
            for (const { resource_id, classification } of body.resources) tiers.set(resource_id, classification.tier);
          }
          const records = new Map<string, string>();
          for (let offset = 0, total = 1; offset < total; offset += 1000) {
            const { body } = await call(at, "GET", `/audit?limit=1000&offset=${offset}&user_id=ann&operation_type=EXPORT`);
            total = body.total;
            for (const { decision_id, user_id } of body.records) records.set(decision_id, user_id);
          }
          const verified = await call(at, "POST", "/audit/verify", {});
          return { names, tiers, records, verified };
        }),
      );
      for (const { names, tiers, records, verified } of seen) {
        for (const name of kept.keys) expect([name, names.get(name)]).toEqual([name, 1]);
        for (const [name, tier] of kept.tiers) expect([name, tiers.get(name)]).toEqual([name, tier]);
        // What an edge brought is there as well, and unclassified things are INTERNAL.
        for (const name of kept.edges)
          if (kept.tiers.has(name)) {
            const tier = kept.tiers.get(name) as string;
            expect([name, tiers.get(`out-${name}`)]).toEqual([name, tier === "PUBLIC" ? "INTERNAL" : tier]);
          }
        for (const id of kept.decisions) expect([id, records.get(id)]).toEqual([id, "ann"]);
        expect(verified).toMatchObject({ status: 200, body: { valid: true, missing: 0 } });
      }
      expect(seen[1]?.tiers).toEqual(seen[0]?.tiers);
      expect(seen[1]?.verified.body.root).toBe(seen[0]?.verified.body.root);

      // What one process takes back, the other does not take any more.
      const made = await call(0, "POST", "/api-keys", { name: "short", scopes: ["audit:read"] });
      expect((await call(1, "GET", "/audit?limit=1", undefined, made.body.api_key)).status).toBe(200);
      expect((await call(0, "DELETE", `/api-keys/${made.body.id}`)).status).toBe(204);
      expect((await call(1, "GET", "/audit?limit=1", undefined, made.body.api_key)).status).toBe(401);
    } finally {
      await Promise.all([...children].map((child) => endProcess(child, "SIGKILL")));
      await postgres.destroy();
      await rm(root, { recursive: true, force: true });
    }
  },
);
