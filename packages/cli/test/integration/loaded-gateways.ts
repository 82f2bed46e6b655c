import { createHash, randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { mtlsFetch } from "@seneschal/adapters/http";
import { expect, vi } from "vitest";
import { startTwoGateways, type TwoGateways } from "./two-gateways.ts";

const CLIENTS = 8;
/** Ciphertexts that are kept to be opened again; of all that were acknowledged each has the same chance. */
const KEPT = 2000;
const WAIT = { timeout: 120_000, interval: 100 };

interface Sealed {
  readonly workspace: string;
  readonly ciphertext: string;
  readonly hash: string;
}

const hashOf = (base64: string): string => createHash("sha256").update(base64).digest("hex");
const any = <T>(of: readonly T[]): T | undefined => of[Math.floor(Math.random() * of.length)];

/** Two gateways on one PostgreSQL, and clients who know what was acknowledged to them. */
export interface LoadedGateways extends Pick<TwoGateways, "postgres" | "serving" | "again" | "destroy"> {
  /** The certificate of their ports. */
  readonly certificate: string;
  /** Answers that no document explains, plaintexts that are not what was sealed. */
  readonly wrong: readonly string[];
  /** Why calls got no answer, by gateway: what became of each was asked of the other one. */
  readonly unanswered: readonly [string[], string[]];
  /** Measures for so long what they can, then asks half of that, until the end. */
  load(probeMs: number): Promise<void>;
  /** Waits until more came back. */
  more(): Promise<void>;
  /** Ends the load. What it came to. */
  end(): Promise<Readonly<Record<string, unknown>>>;
  /** Everything that was acknowledged is there, and the audit log is whole. */
  verify(): Promise<void>;
}

/** Starts them, each from a checkout where one is named, with one organisation. */
export async function startLoadedGateways(checkout?: string): Promise<LoadedGateways> {
  const gateways = await startTwoGateways({
    configOf: (root) => {
      const server = { tls_cert: join(root, "cert.pem"), tls_key: join(root, "key.pem") };
      const gateway = { server, database: { kind: "postgres" } };
      return JSON.stringify({ services: ["gateway"], auth: { mtls: { enabled: true } }, gateway });
    },
    checkout,
  });
  const { root, postgres, addresses, serving, tls, cli, again } = gateways;
  const http = mtlsFetch(tls);
  const urlOf = (at: number): string => `https://${addresses[at]?.host}:${addresses[at]?.port}`;
  let over = false;
  const destroy = async (): Promise<void> => {
    over = true;
    await gateways.destroy();
    await http.close();
  };

  try {
    const counts = new Map<string, number>();
    const wrong: string[] = [];
    const unanswered: [string[], string[]] = [[], []];
    const times: number[] = [];
    // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
    type Body = any;
    /** One call; where no answer comes the other gateway is asked the same. A refusal that a fault explains is `undefined`. */
    const call = async (first: number, method: string, path: string, body?: object): Promise<Body> => {
      const key = randomUUID();
      for (let tried = 0; tried < 200; tried++) {
        const at = ((first + tried) % 2) as 0 | 1;
        const began = performance.now();
        const answer = await http
          .fetch(`${urlOf(at)}${path}`, {
            method,
            headers: body === undefined ? {} : { "content-type": "application/json", "idempotency-key": key },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            signal: AbortSignal.timeout(60_000),
          })
          .then(async (response) => ({ response, text: await response.text() }))
          .catch((error: Error & { readonly cause?: unknown }) => String(error.cause ?? error));
        if (typeof answer === "string") {
          unanswered[at].push(answer);
          await wait(20);
          continue;
        }
        const { response, text } = answer;
        times.push(performance.now() - began);
        if (times.length > 100_000) times.splice(0, 50_000);
        const said = JSON.parse(text);
        const what = `${response.status}${response.ok ? "" : ` ${said.error?.code}`}`;
        counts.set(what, (counts.get(what) ?? 0) + 1);
        if (response.ok) return said;
        // Nobody knows whether what got no answer was done, and a repeat says so.
        if (response.status === 409 && tried > 0) return undefined;
        if (response.status === 503 && Number(response.headers.get("retry-after")) > 0) return undefined;
        wrong.push(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
        return undefined;
      }
      wrong.push(`${method} ${path}: no answer`);
      return undefined;
    };

    const workspaces: string[] = [];
    const kept: Sealed[] = [];
    let sealed = 0;
    const make = async (at: number): Promise<void> => {
      const made = await call(at, "POST", "/api/v1/workspaces", { name: randomUUID() });
      if (made !== undefined) workspaces.push(made.id);
    };
    const seal = async (at: number): Promise<void> => {
      const plaintext = randomBytes(1024).toString("base64");
      const workspace = any(workspaces) ?? "";
      const answer = await call(at, "POST", `/api/v1/workspaces/${workspace}/encrypt`, { plaintext });
      if (answer === undefined) return;
      const place = kept.length < KEPT ? kept.length : Math.floor(Math.random() * (sealed + 1));
      if (place < KEPT) kept[place] = { workspace, ciphertext: answer.ciphertext, hash: hashOf(plaintext) };
      sealed += 1;
    };
    /** Whether it could be opened, to what was sealed. */
    const open = async (at: number, one = any(kept)): Promise<boolean> => {
      if (one === undefined) return false;
      const { workspace, ciphertext, hash } = one;
      const answer = await call(at, "POST", `/api/v1/workspaces/${workspace}/decrypt`, { ciphertext });
      if (answer !== undefined && hashOf(answer.plaintext) !== hash) wrong.push(`${workspace}: another plaintext`);
      return answer !== undefined;
    };
    const step = async (at: number): Promise<void> => {
      const which = Math.random();
      if (which < 0.05) await make(at);
      else if (which < 0.5) await seal(at);
      else if (which < 0.95) await open(at);
      else await call(at, "GET", "/api/v1/audit?limit=20");
    };
    for (let i = 0; i < CLIENTS; i++) await make(i % 2);
    expect(workspaces).toHaveLength(CLIENTS);

    let most = 0;
    let clients: Promise<unknown> = Promise.resolve();
    return {
      postgres,
      serving,
      certificate: join(root, "cert.pem"),
      wrong,
      unanswered,
      again,
      async load(probeMs) {
        // What they can: each client behind its last call.
        let done = 0;
        const ends = performance.now() + probeMs;
        const probe = async (_: unknown, i: number): Promise<void> => {
          for (; performance.now() < ends; done++) await step(i % 2);
        };
        await Promise.all(Array.from({ length: CLIENTS }, probe));
        most = (done * 1000) / probeMs;
        let slot = performance.now();
        const paced = async (_: unknown, i: number): Promise<void> => {
          while (!over) {
            slot = Math.max(slot + 2000 / most, performance.now());
            await wait(slot - performance.now());
            await step(i % 2);
          }
        };
        clients = Promise.all(Array.from({ length: CLIENTS }, paced));
        clients.catch(() => undefined);
      },
      async more() {
        const [reached, bad] = [sealed, wrong.length];
        await vi
          .waitUntil(() => sealed > reached + 5 || wrong.length > bad + 5, WAIT)
          .catch(() => {
            const lost = unanswered.map((why) => why.slice(-3));
            throw new Error(
              `no more came back: ${sealed - reached} ${JSON.stringify([Object.fromEntries(counts), wrong, lost])}`,
            );
          });
      },
      async end() {
        over = true;
        await clients;
        const sorted = [...times].sort((a, b) => a - b);
        const [p50, p99] = [0.5, 0.99].map((share) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0));
        const lost = unanswered.map(({ length }) => length);
        const calls = { most: Math.round(most), sealed, workspaces: workspaces.length, unanswered: lost, p50, p99 };
        return { ...calls, ...Object.fromEntries(counts) };
      },
      async verify() {
        let opened = 0;
        const left = [...kept];
        const rest = async (_: unknown, i: number): Promise<void> => {
          for (let one = left.pop(); one !== undefined; one = left.pop()) if (await open(i % 2, one)) opened += 1;
        };
        await Promise.all(Array.from({ length: CLIENTS }, rest));
        expect([wrong, opened]).toEqual([[], kept.length]);
        const listed = new Set<string>();
        for (let total = 1; listed.size < total; ) {
          const page = await call(0, "GET", `/api/v1/workspaces?limit=1000&offset=${listed.size}`);
          total = page.total;
          for (const { id } of page.workspaces) listed.add(id);
        }
        expect(workspaces.filter((id) => !listed.has(id))).toEqual([]);
        const as = ["--cert", join(root, "acme/admin.pem"), "--key", join(root, "acme/admin-key.pem")];
        await cli("audit", "verify", "--url", urlOf(0), "--ca", join(root, "acme/ca.pem"), ...as);
      },
      destroy,
    };
  } catch (error) {
    await destroy();
    throw error;
  }
}
