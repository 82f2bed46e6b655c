import type { ChildProcess } from "node:child_process";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import { expect, it, vi } from "vitest";
import { ownAddress } from "../../../../tools/own-address.ts";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { run } from "../../src/run.ts";
import { scriptedHost } from "../scripted-host.ts";
import { endProcess, startServe } from "./serve-process.ts";

/** How long the load lasts, and how much lies between two faults; an hour with a fault a minute is `SOAK_MINUTES=60`. */
const MINUTES = Number(process.env["SOAK_MINUTES"] ?? 0.4);
const PERIOD = Math.min(60_000, (MINUTES * 60_000) / 7);
const PROBE = Math.min(10_000, PERIOD);
const CLIENTS = 8;
/** Ciphertexts that are kept to be opened again; of all that were acknowledged each has the same chance. */
const KEPT = 4000;
const WAIT = { timeout: 120_000, interval: 100 };

interface Sealed {
  readonly workspace: string;
  readonly ciphertext: string;
  readonly hash: string;
}

const hashOf = (base64: string): string => createHash("sha256").update(base64).digest("hex");
const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

it.skipIf(postgresBinaries() === undefined)(
  "two gateways on PostgreSQL at half of what they can, with a fault in every period: nothing acknowledged is lost, every answer is a documented one, and the one that lives stays as large as it was",
  { timeout: MINUTES * 60_000 + 600_000 },
  async () => {
    const root = await mkdtemp(join(tmpdir(), "seneschal-soak-"));
    const [postgres, ...addresses] = await Promise.all([startPostgres(), ownAddress(), ownAddress()]);
    const env = { ...process.env, SENESCHAL_GATEWAY_DATABASE_URL: postgres.url };
    const children = new Set<ChildProcess>();
    const serving: ChildProcess[] = [];
    const cli = async (...args: string[]): Promise<void> => {
      const host = scriptedHost({ cwd: root, env });
      expect([args.slice(0, 2).join(" "), await run(args, host), host.errors]).toEqual([args.slice(0, 2).join(" "), 0, []]);
    };
    const urlOf = (at: number): string => `https://${addresses[at]?.host}:${addresses[at]?.port}`;
    const certificate = join(root, "cert.pem");
    const start = async (at: number): Promise<void> => {
      const { host, port } = addresses[at] ?? {};
      const own = [`gateway.server.host=${host}`, `gateway.server.port=${port}`, `data_dir=${root}/data-${at}`];
      const args = ["serve", "-c", join(root, "seneschal.json"), "--set", ...own, "log.level=warn"];
      serving[at] = await startServe(args, env, children);
    };
    let http: IdentityFetch | undefined;
    let over = false;
    try {
      const server = { tls_cert: certificate, tls_key: join(root, "key.pem") };
      const rate_limit = { authenticated: { limit: 100_000_000, window: "1m" } };
      await writeFile(
        join(root, "seneschal.json"),
        JSON.stringify({
          services: ["gateway"],
          auth: { mtls: { enabled: true } },
          gateway: { server, rate_limit, database: { kind: "postgres" } },
        }),
      );
      await cli("init", "--data", join(root, "data-0"));
      const names = addresses.map(({ host }) => host);
      const who = ["--org", "acme", "--email", "ada@acme.example", "--server-name", ...names, "--out", join(root, "acme")];
      await cli("bootstrap", ...who, "-c", join(root, "seneschal.json"), "--set", `data_dir=${root}/data-0`);
      await mkdir(join(root, "data-1"), { mode: 0o700 });
      await cp(join(root, "data-0/unseal.key"), join(root, "data-1/unseal.key"));
      await Promise.all([start(0), start(1)]);
      const pem = (file: string): Promise<string> => readFile(join(root, "acme", file), "utf8");
      http = mtlsFetch({ ca: await pem("ca.pem"), cert: await pem("admin.pem"), key: await pem("admin-key.pem") });

      const counts = new Map<string, number>();
      const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
      const wrong: string[] = [];
      const unanswered = [0, 0];
      const times: number[] = [];
      // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
      type Reply = { readonly status: number; readonly body: any };
      /** One call; where no answer comes the other gateway is asked the same. A refusal that a fault explains is `undefined`. */
      const call = async (first: number, method: string, path: string, body?: object): Promise<Reply | undefined> => {
        const key = randomUUID();
        for (let tried = 0; tried < 200; tried++) {
          const at = (first + tried) % 2;
          const began = performance.now();
          const answer = await http
            ?.fetch(`${urlOf(at)}${path}`, {
              method,
              headers: body === undefined ? {} : { "content-type": "application/json", "idempotency-key": key },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
              signal: AbortSignal.timeout(60_000),
            })
            .then(async (response) => ({ response, text: await response.text() }))
            .catch(() => undefined);
          if (answer === undefined) {
            unanswered[at] = (unanswered[at] ?? 0) + 1;
            await wait(20);
            continue;
          }
          const { response, text } = answer;
          times.push(performance.now() - began);
          if (times.length > 100_000) times.splice(0, 50_000);
          const said = JSON.parse(text);
          count(`${response.status}${response.ok ? "" : ` ${said.error?.code}`}`);
          if (response.ok) return { status: response.status, body: said };
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
        if (made !== undefined) workspaces.push(made.body.id);
      };
      const any = <T>(of: readonly T[]): T | undefined => of[Math.floor(Math.random() * of.length)];
      const seal = async (at: number): Promise<void> => {
        const plaintext = randomBytes(1024).toString("base64");
        const workspace = any(workspaces) ?? "";
        const answer = await call(at, "POST", `/api/v1/workspaces/${workspace}/encrypt`, { plaintext });
        if (answer === undefined) return;
        const one = { workspace, ciphertext: answer.body.ciphertext as string, hash: hashOf(plaintext) };
        const place = kept.length < KEPT ? kept.length : Math.floor(Math.random() * (sealed + 1));
        if (place < KEPT) kept[place] = one;
        sealed += 1;
      };
      const open = async (at: number, one = any(kept)): Promise<void> => {
        if (one === undefined) return;
        const { workspace, ciphertext, hash } = one;
        const answer = await call(at, "POST", `/api/v1/workspaces/${workspace}/decrypt`, { ciphertext });
        if (answer !== undefined && hashOf(answer.body.plaintext) !== hash) wrong.push(`${workspace}: another plaintext`);
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
      // What they can: as many calls as come back in the first moments, each client behind its last.
      let done = 0;
      const ends = performance.now() + PROBE;
      const probe = async (_: unknown, at: number): Promise<void> => {
        for (; performance.now() < ends; done++) await step(at % 2);
      };
      await Promise.all(Array.from({ length: CLIENTS }, probe));
      const most = (done * 1000) / PROBE;
      const apart = 1000 / (most / 2);
      let slot = performance.now();
      const paced = async (_: unknown, i: number): Promise<void> => {
        while (!over) {
          slot = Math.max(slot + apart, performance.now());
          await wait(slot - performance.now());
          await step(i % 2);
        }
      };
      const clients = Promise.all(Array.from({ length: CLIENTS }, paced));
      clients.catch(() => undefined);

      const sizes: { readonly rss: number; readonly files: number }[] = [];
      const measure = async (): Promise<void> => {
        const status = await readFile(`/proc/${serving[0]?.pid}/status`, "utf8");
        const files = (await readdir(`/proc/${serving[0]?.pid}/fd`)).length;
        sizes.push({ rss: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024, files });
      };
      const again = async (signal: NodeJS.Signals): Promise<void> => {
        await endProcess(serving[1], signal);
        await start(1);
      };
      const faults: readonly (() => Promise<unknown>)[] = [
        () => again("SIGKILL"),
        async () => {
          await utimes(certificate, new Date(), new Date());
          for (const child of serving) child.kill("SIGHUP");
        },
        async () => {
          await postgres.kill();
          await postgres.restart();
        },
        () => again("SIGTERM"),
        async () => {
          postgres.pause();
          await wait(Math.min(5000, PERIOD / 2));
          postgres.resume();
        },
        async () => {
          serving[1]?.kill("SIGSTOP");
          await wait(Math.min(5000, PERIOD / 2));
          serving[1]?.kill("SIGCONT");
        },
      ];
      const begun = performance.now();
      for (let n = 0; performance.now() - begun < MINUTES * 60_000; n++) {
        const next = performance.now() + PERIOD;
        await faults[n % faults.length]?.();
        const [reached, bad] = [sealed, wrong.length];
        await vi.waitUntil(() => sealed > reached + 5 || wrong.length > bad + 5, WAIT);
        await wait(next - performance.now());
        await measure();
      }
      over = true;
      await clients;

      const sorted = [...times].sort((a, b) => a - b);
      const at = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
      const report = { most: Math.round(most), sealed, workspaces: workspaces.length, unanswered, p50: at(0.5), p99: at(0.99) };
      const series = sizes.map(({ rss, files }) => `${Math.round(rss)}/${files}`).join(" ");
      if (process.env["SOAK_MINUTES"] !== undefined)
        console.log(JSON.stringify({ ...report, ...Object.fromEntries(counts) }), series);
      expect(wrong).toEqual([]);
      // The one that was never killed owes nobody an answer.
      expect(unanswered[0]).toBe(0);

      const before = new Map(counts);
      for (const one of kept) await open(0, one);
      expect([wrong, (counts.get("200") ?? 0) - (before.get("200") ?? 0)]).toEqual([[], kept.length]);
      const listed = new Set<string>();
      for (let total = 1; listed.size < total; ) {
        const page = (await call(0, "GET", `/api/v1/workspaces?limit=1000&offset=${listed.size}`))?.body;
        total = page.total;
        for (const { id } of page.workspaces) listed.add(id);
      }
      expect(workspaces.filter((id) => !listed.has(id))).toEqual([]);
      const as = ["--cert", join(root, "acme/admin.pem"), "--key", join(root, "acme/admin-key.pem")];
      await cli("audit", "verify", "--url", urlOf(0), "--ca", join(root, "acme/ca.pem"), ...as);
      // Flat: the last quarter beside the second one, when there are enough of both to tell.
      if (sizes.length >= 40) {
        const quarter = sizes.length >> 2;
        const [early, late] = [sizes.slice(quarter, 2 * quarter), sizes.slice(-quarter)];
        for (const of of ["rss", "files"] as const)
          expect([of, middle(late.map((one) => one[of])) <= 1.15 * middle(early.map((one) => one[of])), series]).toEqual([
            of,
            true,
            series,
          ]);
      }
    } finally {
      over = true;
      postgres.resume();
      for (const child of children) child.kill("SIGCONT");
      await Promise.all([...children].map((child) => endProcess(child, "SIGKILL")));
      await http?.close();
      await postgres.destroy();
      await rm(root, { recursive: true, force: true });
    }
  },
);
