import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { startTcpProxy } from "../../../../tools/tcp-proxy.ts";
import { run } from "../../src/run.ts";
import { scriptedHost } from "../scripted-host.ts";
import { ask } from "./ask.ts";

const WAIT = { timeout: 120_000 };
const CLIENTS = 4;
const ops = fileURLToPath(new URL("../../../../ops/haproxy/seneschal.yaml", import.meta.url));
const page = await readFile(fileURLToPath(new URL("../../../../docs/recovery.md", import.meta.url)), "utf8");

/** A primary beside us; where `OTHER_SITE` is set, also one behind a network that takes so many milliseconds each way and says nothing when it is lost: minutes. */
const OTHER_SITE = Number(process.env["OTHER_SITE"] ?? 0);
const PLACES: readonly (readonly [string, number])[] = [
  ["was killed under load", 0],
  ...(OTHER_SITE > 0 ? [["was lost with its site under load, without a word", OTHER_SITE] as const] : []),
];

it.skipIf(postgresBinaries() === undefined).each(PLACES)(
  "by the commands of docs/recovery.md a standby takes the place of a primary that %s: what was acknowledged is there once, and the audit log goes on from what was signed before",
  async (_, milliseconds) => {
    const section = page.slice(page.indexOf("## PostgreSQL fails over"), page.indexOf("## An etcd member"));
    const [copy = "", follow = "", promote = ""] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, lines = ""]) => lines);
    const root = await mkdtemp(join(tmpdir(), "seneschal-failover-"));
    const primary = await startPostgres();
    const network = await startTcpProxy(primary.address);
    network.lag(milliseconds);
    // The page's command ends before this process goes on, and so does not go by its proxy; what streams afterwards does.
    const standby = await startPostgres(
      { primary_conninfo: `host=127.0.0.1 port=${network.port} user=seneschal` },
      copy.replace("db-1.seneschal.example port=5432", `${primary.address.host} port=${primary.address.port}`),
    );
    const name = await startTcpProxy(network.port);
    const url = new URL(primary.url);
    url.host = `127.0.0.1:${name.port}`;
    const env = { SENESCHAL_GATEWAY_DATABASE_URL: url.href };
    const cli = async (...args: string[]): Promise<readonly string[]> => {
      const host = scriptedHost({ cwd: root, env });
      expect([args.join(" "), await run(args, host), host.errors]).toEqual([args.join(" "), 0, []]);
      return host.lines;
    };
    let stop = (): void => {};
    let done: Promise<number> | undefined;
    try {
      const isSynchronous = (): boolean =>
        primary.shell('psql -At -c "SELECT sync_state FROM pg_stat_replication"').trim() === "quorum";
      primary.shell(follow);
      await vi.waitUntil(isSynchronous, WAIT);

      const config = (await readFile(ops, "utf8")).replace(/\/(?:etc|var)\/[\w./-]*/g, (path) => `${root}${path}`);
      await mkdir(join(root, "etc/seneschal"), { recursive: true });
      await writeFile(join(root, "seneschal.yaml"), config);
      await cli("init", "--data", "var/lib/seneschal");
      const who = ["--org", "acme", "--email", "ada@acme.example", "--server-name", "localhost", "--out", "acme"];
      await cli("bootstrap", ...who, "-c", "seneschal.yaml");
      const pem = (file: string): Promise<string> => readFile(join(root, "acme", file), "utf8");
      const tls = { ca: await pem("ca.pem"), cert: await pem("admin.pem"), key: await pem("admin-key.pem") };
      const serving = scriptedHost({ cwd: root, env, interrupted: new Promise((resolve) => (stop = resolve)) });
      const listening = new Promise<string>((resolve) => {
        Object.assign(serving, { out: (text: string) => text.includes('"services"') && resolve(text) });
      });
      const set = ["gateway.server.port=0", "gateway.rate_limit.authenticated.limit=1000000", "log.level=silent"];
      done = run(["serve", "--json", "-c", "seneschal.yaml", "--set", ...set], serving);
      const text = await Promise.race([listening, done.then((code) => Promise.reject(new Error(`${code}: ${serving.errors}`)))]);
      const { port } = new URL(JSON.parse(text).services[0].url);
      const at = { host: "127.0.0.1", port: Number(port), servername: "localhost" };
      const as = [
        "--url",
        `https://localhost:${at.port}`,
        "--ca",
        "acme/ca.pem",
        "--cert",
        "acme/admin.pem",
        "--key",
        "acme/admin-key.pem",
      ];
      await cli("audit", "witness-key", "--name", "witness.example.org", "--out", "witness.pem");
      const kept = ["witness", "before", "--witness-key", "witness.pem", "--name", "witness.example.org"];

      let over = false;
      const made: string[] = [];
      const refused: string[] = [];
      let unknown = 0;
      const client = async (): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        while (!over) {
          const key = randomUUID();
          for (;;) {
            const { status, body } = await ask(at, "/api/v1/workspaces", tls, agent, key);
            const answer = JSON.parse(body);
            if (status === 201) made.push(answer.id);
            else if (status === 409) unknown += 1;
            // Said without doing anything: once more, under the same key.
            else if (status === 503 && !over) {
              refused.push(answer.error.code);
              continue;
            } else if (status !== 503) refused.push(`${status} ${answer.error.code}`);
            break;
          }
        }
        agent.destroy();
      };
      const clients = Promise.all(Array.from({ length: CLIENTS }, client));
      clients.catch((error: unknown) => refused.push(String(error)));
      const more = (count: number): Promise<unknown> => {
        const from = made.length;
        return vi.waitFor(() => expect(made.length, refused.join()).toBeGreaterThanOrEqual(from + count), WAIT);
      };
      await more(20);
      await cli("audit", ...kept, ...as);
      await more(20);

      if (milliseconds === 0) await primary.kill();
      else network.stall();
      await vi.waitUntil(() => refused.length > 0, WAIT);
      expect((await ask(at, "/ready", tls)).status).toBe(503);
      standby.shell(promote);
      // Connections to what was lost stay open: nobody ends them but who waits behind them.
      name.lead(standby.address);
      await more(40);
      over = true;
      await clients;
      expect((await ask(at, "/ready", tls)).status).toBe(200);

      expect(refused.filter((code) => !/^[A-Z_]+$/.test(code))).toEqual([]);
      // One request of each client was in hand, at most.
      expect(unknown).toBeLessThanOrEqual(CLIENTS);
      const listed: string[] = [];
      for (let total = 1; listed.length < total; ) {
        const { body } = await ask(at, `/api/v1/workspaces?limit=1000&offset=${listed.length}`, tls);
        const answer = JSON.parse(body);
        total = answer.total;
        listed.push(...answer.workspaces.map(({ id }: { id: string }) => id));
      }
      expect(made.filter((id) => !listed.includes(id))).toEqual([]);
      expect(new Set(listed).size).toBe(listed.length);
      // The first one is bootstrap's.
      expect(listed.length).toBeGreaterThanOrEqual(made.length + 1);
      expect(listed.length).toBeLessThanOrEqual(made.length + 1 + unknown + CLIENTS);
      expect(JSON.parse((await cli("audit", "verify", "--checkpoint", "before", "--json", ...as)).join(""))).toMatchObject({
        valid: true,
      });
    } finally {
      stop();
      await done;
      await name.close();
      await network.close();
      await standby.destroy();
      await primary.destroy();
      await rm(root, { recursive: true, force: true });
    }
  },
);
