import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { openPostgresStore } from "@seneschal/adapters/postgres";
import { systemRandom } from "@seneschal/adapters/system";
import { vaultCollections } from "@seneschal/adapters/vault";
import { createRequest, localSigner, newPrivateKey, requestPem } from "@seneschal/crypto/x509";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { startTcpProxy, type TcpProxy } from "../../../../tools/tcp-proxy.ts";
import { devIssuer, gatewaySchema } from "../../src/gateway/index.ts";
import { authenticatorApp } from "../gateway/authenticator-app.ts";
import type { ConsistencyStart } from "./consistency-process.ts";
import { findLinearization, type Operation } from "./find-linearization.ts";

const SECONDS = Number(process.env["CONSISTENCY_SECONDS"] ?? 40);
/** How far the clocks of the processes are off. */
const SKEWS = [0, 40_000, -25_000];
const namespace = "consistency";

interface Reply {
  /** 0: nobody knows what became of it. */
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly body: any;
  readonly asked: number;
  readonly answered: number;
}

/** A gateway in a process of its own, that is killed and started again. */
class Process {
  readonly #start: ConsistencyStart;
  #child: ChildProcess | undefined;
  #url = "";

  constructor(start: ConsistencyStart) {
    this.#start = start;
  }

  async start(): Promise<void> {
    const program = new URL("consistency-process.ts", import.meta.url).pathname;

    const options = [...sourceOptions, program, JSON.stringify(this.#start)];
    const child = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = `${said}${text}`.slice(-4000);
    });
    const port = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once("line", resolve);
      child.once("close", (code) => reject(new Error(`a gateway ended with ${code}: ${said}`)));
    });
    this.#url = `http://127.0.0.1:${port}`;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  async call(token: string | undefined, method: string, path: string, body?: object, key?: string): Promise<Reply> {
    const asked = performance.now();
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    };
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers,
        signal: AbortSignal.timeout(30_000),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text), asked, answered: performance.now() };
    } catch {
      return { status: 0, body: undefined, asked, answered: performance.now() };
    }
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
const done = ({ status }: Reply): boolean => status >= 200 && status < 300;
/** Whether it may have been done: no answer, or one that says that nobody knows. */
const open = ({ status }: Reply): boolean => status === 0 || status === 503;

if (postgresBinaries() === undefined) it.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("three gateways on one PostgreSQL, killed, cut off from it, and with clocks that differ", () => {
    let server: PostgresServer;
    let network: TcpProxy;
    let store: DocumentStore;
    const processes: Process[] = [];
    const issuer = devIssuer();
    let ended = false;
    let tokens: { readonly root: string; readonly users: readonly string[] };
    const strange: string[] = [];
    let turn = 0;

    /** Asks one of the processes in turn, or the one that is named. */
    const ask = async (
      token: string | undefined,
      ...[method, path, body, key, to]: [method: string, path: string, body?: object, key?: string, to?: number]
    ): Promise<Reply> => {
      turn += 1;
      const reply = await (processes[(to ?? turn) % processes.length] as Process).call(token, method, path, body, key);
      if (reply.status >= 500 && reply.status !== 503)
        strange.push(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
      return reply;
    };
    /** The same at once of all processes, `times` times each. */
    const askAll = (times: number, ...asked: Parameters<typeof ask>): Promise<Reply[]> => {
      const [token, method, path, body, key] = asked;
      return Promise.all(Array.from({ length: times * processes.length }, (_, to) => ask(token, method, path, body, key, to)));
    };
    /** Makes something under a name that each try has for itself: what an unanswered try took is taken for ever. */
    const make = async (path: string, body: (attempt: string) => object): Promise<Reply["body"]> => {
      for (let attempt = 0; ; attempt += 1) {
        const reply = await ask(tokens.root, "POST", path, body(attempt === 0 ? "" : `-${attempt}`));
        if (done(reply)) return reply.body;
        if (!open(reply)) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
        await wait(100);
      }
    };
    const whileFaultsLast = async (work: (round: number) => Promise<void>): Promise<void> => {
      for (let round = 0; !ended; round += 1) await work(round);
    };

    beforeAll(async () => {
      server = await startPostgres({ max_connections: "300" });
      const { hostname, port } = new URL(server.url);
      network = await startTcpProxy(Number(port), hostname);
      const through = server.url.replace(`${hostname}:${port}`, `127.0.0.1:${network.port}`);
      const collections = { ...gatewaySchema.collections, ...vaultCollections };
      store = await openPostgresStore({ url: server.url, namespace, ...gatewaySchema, collections });
      const start = { url: through, namespace, issuerKey: issuer.privateKey };
      for (const ahead of SKEWS) processes.push(new Process({ ...start, ahead }));
      // At once, on an empty database: they must agree about its keys.
      await Promise.all(processes.map((gateway) => gateway.start()));
      const now = Date.now();
      const token = (sub: string, roles: readonly string[] = []) => issuer.token({ sub, org: "acme", roles, ttl: 3600 }, now);
      tokens = {
        root: token("root", ["super_admin"]),
        users: Array.from({ length: 400 }, (_, i) => token(`user-${i}`)),
      };
      const made = await ask(tokens.root, "POST", "/api/v1/crk/generate", { total_shares: 3, threshold: 2 });
      expect(done(made), JSON.stringify(made)).toBe(true);
    });
    afterAll(async () => {
      await Promise.all(processes.map((gateway) => gateway.kill()));
      await store?.close();
      await network?.close();
      await server?.destroy();
    });

    const faults = async (): Promise<void> => {
      const until = Date.now() + SECONDS * 1000;
      for (let fault = 0; Date.now() < until; fault += 1) {
        await wait(2500);
        if (fault % 3 === 2) {
          const victim = processes[Math.floor(fault / 3) % processes.length] as Process;
          await victim.kill();
          await victim.start();
        } else network.cut();
      }
      ended = true;
    };

    /** A register: one workspace's purpose; its revision says the order of writes. */
    const registers = async (): Promise<void> => {
      const { id } = await make("/api/v1/workspaces", (attempt) => ({ name: `register${attempt}` }));
      const path = `/api/v1/workspaces/${id}`;
      const history: Operation[] = [];
      const values = new Map<number, string>();
      const saw = (revision: number, purpose: string): void => {
        expect(values.get(revision) ?? purpose, `revision ${revision}`).toBe(purpose);
        values.set(revision, purpose);
      };
      const client = (name: number) =>
        whileFaultsLast(async (round) => {
          const writes = round % 3 === 0;
          const purpose = `${name}-${round}`;
          const reply = await (writes ? ask(tokens.root, "PUT", path, { purpose }) : ask(tokens.root, "GET", path));
          if (!done(reply)) return;
          const { revision } = reply.body;
          saw(revision, reply.body.purpose);
          if (writes) expect(reply.body.purpose).toBe(purpose);
          const { asked, answered } = reply;
          history.push({
            name: `${writes ? "write" : "read"} ${name}-${round} at ${revision}`,
            asked,
            answered,
            ...(writes ? { position: revision } : { observedFrom: (from: number) => (revision >= from ? revision : undefined) }),
          });
        });
      await Promise.all([0, 1, 2].map(client));
      expect(history.length).toBeGreaterThan(0);
      expect(findLinearization(history)).toEqual([]);
    };

    /** A counter: a workspace's key version; and what was encrypted under any version stays readable. */
    const counters = async (): Promise<void> => {
      const { id } = await make("/api/v1/workspaces", (attempt) => ({ name: `counter${attempt}` }));
      const path = `/api/v1/workspaces/${id}`;
      const rotations: Reply[] = [];
      const reads: Reply[] = [];
      const sealed: string[] = [];
      await Promise.all([
        whileFaultsLast(async () => {
          rotations.push(...(await askAll(1, tokens.root, "POST", `${path}/rotate-dek`)));
        }),
        whileFaultsLast(async () => {
          const reply = await ask(tokens.root, "POST", `${path}/encrypt`, { plaintext: "eA==" });
          if (done(reply)) sealed.push(reply.body.ciphertext);
        }),
        whileFaultsLast(async () => {
          const reply = await ask(tokens.root, "GET", path);
          if (done(reply)) reads.push(reply);
        }),
      ]);
      for (const { asked, answered, body } of reads) {
        const before = rotations.filter((rotation) => done(rotation) && rotation.answered < asked).length;
        const begun = rotations.filter((rotation) => rotation.asked < answered && (done(rotation) || open(rotation))).length;
        expect(body.dek_version - 1).toBeGreaterThanOrEqual(before);
        expect(body.dek_version - 1).toBeLessThanOrEqual(begun);
      }
      const { dek_version } = (await settled(path)).body;
      const certain = rotations.filter(done).length;
      expect(certain).toBeGreaterThan(0);
      expect(dek_version - 1).toBeGreaterThanOrEqual(certain);
      expect(dek_version - 1).toBeLessThanOrEqual(certain + rotations.filter(open).length);
      const events = (await settled(`/api/v1/audit?workspace=${id}&event_type=key.rotate&limit=1`)).body.total;
      expect(events).toBe(dek_version - 1);
      expect(sealed.length).toBeGreaterThan(0);
      for (const ciphertext of sealed.slice(-200)) {
        const reply = await ask(tokens.root, "POST", `${path}/decrypt`, { ciphertext });
        expect([reply.status, reply.body?.plaintext]).toEqual([200, "eA=="]);
      }
    };

    /** A set: names of workspaces are each taken once, and what was added is there. */
    const sets = async (): Promise<void> => {
      const added = new Map<string, number>();
      const known: string[] = [];
      await whileFaultsLast(async (round) => {
        const name = `set-${round}`;
        const replies = await askAll(2, tokens.root, "POST", "/api/v1/workspaces", { name });
        expect(replies.filter(done).length).toBeLessThanOrEqual(1);
        if (!replies.some(done) && !replies.some(open))
          throw new Error(`nobody got ${name}: ${replies.map(({ status }) => status)}`);
        added.set(name, replies.filter(done).length);
        const before = known.length;
        if (replies.some(done)) known.push(name);
        const list = await ask(tokens.root, "GET", "/api/v1/workspaces?limit=1000");
        if (!done(list)) return;
        const names = new Set(list.body.workspaces.map((workspace: { name: string }) => workspace.name));
        expect(names.size).toBe(list.body.workspaces.length);
        expect([list.body.count, list.body.total]).toEqual([names.size, names.size]);
        for (const sure of known.slice(Math.max(0, before - 20))) expect(names).toContain(sure);
      });
      expect(sum([...added.values()])).toBeGreaterThan(0);
    };

    /** Things that are good once: an enrolment token, a code of a second factor. */
    const onceOnly = async (): Promise<void> => {
      let used = 0;
      await whileFaultsLast(async (round) => {
        const admin = await make("/api/v1/identities/admins", (attempt) => ({
          email: `once-${round}${attempt}@acme.example`,
          name: `Once ${round}`,
          role: "auditor",
        }));
        const key = newPrivateKey(nodeCrypto, "p256", systemRandom);
        const csr = requestPem(await createRequest(localSigner(nodeCrypto, key), { subject: [{ type: "CN", value: "once" }] }));
        const path = `/api/v1/enrollment/admins/${admin.id}`;
        const enrolled = await askAll(1, undefined, "POST", path, { enrollment_token: admin.enrollment_token, csr });
        expect(enrolled.filter(done).length).toBeLessThanOrEqual(1);
        if (enrolled.every(({ status }) => status === 401)) throw new Error("a token that nobody had used was refused");
        if (!enrolled.some(done)) return;
        used += 1;
        const own = issuer.token({ sub: admin.id, org: "acme", ttl: 3600 }, Date.now());
        const mfa = `/api/v1/identities/admins/${admin.id}/mfa`;
        const enabled = await ask(own, "POST", `${mfa}/enable`);
        if (!done(enabled)) return;
        const code = authenticatorApp(enabled.body.provisioning_url, () => Date.now())();
        const verified = await askAll(2, own, "POST", `${mfa}/verify`, { totp_code: code });
        expect(verified.filter(done).length).toBeLessThanOrEqual(1);
      });
      expect(used).toBeGreaterThan(0);
    };

    /** One key, one work: equal requests at once, and again behind them. */
    const keyed = async (): Promise<void> => {
      let carriedOut = 0;
      await whileFaultsLast(async (round) => {
        const token = tokens.users[round % tokens.users.length];
        const reason = `keyed ${round}`;
        const request = ["POST", "/api/v1/emergency-access/request", { reason }, `key-${round}`] as const;
        const replies = [...(await askAll(2, token, ...request)), ...(await askAll(1, token, ...request))];
        const ids = new Set(replies.filter(done).map(({ body }) => body.id));
        expect(ids.size).toBeLessThanOrEqual(1);
        for (const { status, body } of replies)
          if (status === 409) expect(body.error.code, JSON.stringify(body)).toBe("CONFLICT");
        const list = await ask(tokens.root, "GET", "/api/v1/emergency-access?limit=1000");
        if (done(list)) {
          const made = list.body.requests.filter((one: { reason: string }) => one.reason === reason).length;
          expect(made).toBeLessThanOrEqual(1);
          expect(made).toBeGreaterThanOrEqual(ids.size);
        }
        carriedOut += ids.size;
      });
      expect(carriedOut).toBeGreaterThan(0);
    };

    /** The audit log is whole at every moment, whoever is asked. */
    const audited = async (): Promise<void> => {
      let verified = 0;
      let size = 0;
      await whileFaultsLast(async () => {
        const verdict = await ask(tokens.root, "POST", "/api/v1/audit/verify", {});
        if (done(verdict)) {
          expect(verdict.body.valid, JSON.stringify(verdict.body)).toBe(true);
          verified += 1;
        }
        const checkpoint = await ask(tokens.root, "GET", "/api/v1/audit/checkpoint");
        if (!done(checkpoint)) return;
        expect(checkpoint.body.size).toBeGreaterThanOrEqual(size);
        size = checkpoint.body.size;
      });
      expect(verified).toBeGreaterThan(0);
    };

    const settled = async (path: string): Promise<Reply> => {
      for (;;) {
        const reply = await ask(tokens.root, "GET", path);
        if (done(reply)) return reply;
        if (!open(reply)) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
        await wait(100);
      }
    };

    it(
      "answer as one: registers, counters, sets, what is good once, keyed requests, and an audit log that is always whole",
      async () => {
        await Promise.all([faults(), registers(), counters(), sets(), onceOnly(), keyed(), audited()]).finally(() => {
          ended = true;
        });
        expect(strange).toEqual([]);
        const { body } = await ask(tokens.root, "POST", "/api/v1/audit/verify", {});
        expect(body.valid).toBe(true);
        let seq = 0;
        for (let page = await store.auditRead(0, 1000); page.length > 0; page = await store.auditRead(seq, 1000))
          for (const entry of page) expect(entry.seq).toBe(++seq);
      },
      (SECONDS + 240) * 1000,
    );
  });
