import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openEtcdLog } from "@seneschal/adapters/etcd";
import { openLevelLog } from "@seneschal/adapters/level";
import type { LogEntry, ReplicatedLog } from "@seneschal/kernel/ports";
import { expect, it } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { startTcpProxy, type TcpProxy } from "../../../../tools/tcp-proxy.ts";
import { run } from "../../src/run.ts";
import { type ScriptedHost, scriptedHost } from "../scripted-host.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const page = fileURLToPath(new URL("../../../../docs/migrating.md", import.meta.url));
const firstStart = fileURLToPath(new URL("../../../../docs/operating.md", import.meta.url));

async function blocks(file: string, wanted: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8");
  const all = [...text.matchAll(/```(\w*)\n([\s\S]*?)```/g)];
  return all.filter(([, language]) => language === wanted).map(([, , body = ""]) => body);
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A process of the command. */
function startCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [...sourceOptions, main, ...args, "--json"], { env: { ...process.env, ...env } });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.on("data", (bytes) => out.push(String(bytes)));
  child.stderr.on("data", (bytes) => err.push(String(bytes)));
  const ended = new Promise<Ended>((resolve) =>
    child.once("close", (code) => resolve({ code, out: out.join(""), err: err.join("") })),
  );
  return { child, ended };
}

/** Runs it again and again, each time killed behind a later answer of what the proxy leads to, until it comes to its end. */
async function killedUntilDone(
  { proxy, request }: { readonly proxy: TcpProxy; readonly request: string },
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly kills: number; readonly parts: readonly Record<string, unknown>[] }> {
  for (let kills = 0; ; kills += 1) {
    expect(kills).toBeLessThan(200);
    const lost = proxy.loseAnswer(request, "", 3 * kills);
    const { child, ended } = startCommand(args, env);
    const end = await Promise.race([lost, ended]);
    if (end === undefined) child.kill("SIGKILL");
    const { code, out, err } = await ended;
    proxy.heal();
    if (end === undefined) continue;
    expect([code, code === 0 ? "" : out + err]).toEqual([0, ""]);
    return { kills, parts: JSON.parse(out).parts };
  }
}

const entryAt = (seq: number): LogEntry => ({
  v: 1,
  seq,
  batchId: `batch-${seq}`,
  prevHash: "",
  at: seq,
  commands: [{ text: `é${seq}` }],
});

async function logContent(log: ReplicatedLog): Promise<unknown> {
  const entries: unknown[] = [];
  for (
    let read = await log.read(0, { limit: 100 });
    read.entries.length > 0;
    read = await log.read(entries.length, { limit: 100 })
  )
    entries.push(...read.entries);
  const content = { entries, snapshot: await log.loadSnapshot(), piece: await log.archived(7) };
  await log.close();
  return content;
}

function toward(url = ""): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  return startTcpProxy(Number(port), hostname);
}

const isInstalled = postgresBinaries() !== undefined && etcdInstalled();

it.skipIf(!isInstalled)(
  "by the commands of docs/migrating.md a gateway and a scheduler's log come to PostgreSQL and etcd and back, killed wherever they ask and told; the audit log goes on from what was signed before",
  async () => {
    const root = await mkdtemp(join(tmpdir(), "seneschal-migrate-"));
    const [postgres, etcd] = await Promise.all([startPostgres(), startEtcdCluster({ members: 1 })]);
    const [toPostgres, toEtcd] = await Promise.all([toward(postgres.url), toward(etcd.endpoints[0])]);
    const here = (text: string): string =>
      text.replace(/\/(?:etc|var|root)\/[\w./-]*/g, (path) => `${root}${path}`).replaceAll(":2379", `:${toEtcd.port}`);
    const url = new URL(postgres.url);
    url.host = `127.0.0.1:${toPostgres.port}`;
    const env = { SENESCHAL_GATEWAY_DATABASE_URL: url.href };
    const cli = async (line: string, host: ScriptedHost = scriptedHost({ cwd: root, env })): Promise<ScriptedHost> => {
      const code = await run([...here(line).split(" ").slice(1), "--json"], host);
      expect([line, code, code === 0 ? "" : host.lines.join() + host.errors.join()]).toEqual([line, 0, ""]);
      return host;
    };
    /** Serves a gateway for as long as something is done with it. */
    const served = async (config: string, work: (connection: string) => Promise<void>): Promise<void> => {
      let end = (): void => {};
      const host = scriptedHost({ cwd: root, env, interrupted: new Promise((resolve) => (end = resolve)) });
      const listening = new Promise<string>((resolve) => {
        Object.assign(host, { out: (text: string) => text.includes('"services"') && resolve(text) });
      });
      const done = run(
        [...here(`serve -c ${config} --services gateway`).split(" "), "--set", "gateway.server.port=0", "log.level=silent"],
        host,
      );
      const text = await Promise.race([listening, done.then((code) => Promise.reject(new Error(`${code}: ${host.errors}`)))]);
      const { port } = new URL(JSON.parse(text).services[0].url);
      try {
        await work(
          `--url https://localhost:${port} --ca /root/acme/ca.pem --cert /root/acme/admin.pem --key /root/acme/admin-key.pem`,
        );
      } finally {
        end();
        await done;
      }
    };
    const verified = async (connection: string): Promise<unknown> =>
      (await cli(`seneschal audit verify ${connection} --checkpoint /root/before`)).json();
    try {
      // As docs/operating.md begins, with a scheduler beside it.
      const [now, next, back] = ["/etc/seneschal/seneschal.yaml", "/etc/seneschal/next.yaml", "/etc/seneschal/back.yaml"];
      await mkdir(dirname(here(now)), { recursive: true });
      const [first = ""] = await blocks(firstStart, "yaml");
      await writeFile(here(now), here(first.replace("[gateway]", "[gateway, scheduler]")));
      const [nextYaml = ""] = await blocks(page, "yaml");
      await writeFile(here(next), here(nextYaml));
      const elsewhere =
        "  database: { path: /var/lib/moved/gateway }\nscheduler: { storage: { path: /var/lib/moved/scheduler } }\n";
      await writeFile(here(back), here(`${first.replace("[gateway]", "[gateway, scheduler]")}${elsewhere}`));
      await cli("seneschal init --data /var/lib/seneschal");
      await cli(`seneschal bootstrap --org acme --email ada@acme.example --server-name localhost --out /root/acme -c ${now}`);
      const log = await openLevelLog({ path: here("/var/lib/seneschal/scheduler/log") });
      for (let seq = 1; seq <= 50; seq += 1)
        await log.append({ seq: seq - 1, batchId: seq === 1 ? "" : `batch-${seq - 1}` }, entryAt(seq));
      await log.saveSnapshot(40, Uint8Array.of(0, 255));
      await log.archive(7, Uint8Array.of(1, 254));
      const content = await logContent(log);
      await served(now, async (connection) => {
        await cli("seneschal audit witness-key --name witness.example.org --out /root/witness.pem");
        await cli(
          `seneschal audit witness /root/before --witness-key /root/witness.pem --name witness.example.org ${connection}`,
        );
        // Its directory is locked: nothing begins.
        const busy = startCommand(here(`migrate -c ${now} --to ${next}`).split(" "), env);
        expect((await busy.ended).out).toContain("store_locked");
      });

      const [typed = ""] = await blocks(page, "");
      const [migrating = "", serving = ""] = typed.trim().split("\n");
      const [args, etcdLog] = [
        here(migrating).split(" ").slice(1),
        { endpoints: etcd.endpoints, prefix: "/seneschal/scheduler" },
      ];
      const there = await killedUntilDone({ proxy: toPostgres, request: "commit" }, args, env);
      expect(there.kills).toBeGreaterThan(5);
      expect(there.parts.map(({ service, state }) => [service, state])).toEqual([
        ["gateway", expect.stringMatching(/moved$/)],
        ["scheduler", "moved"],
      ]);
      expect(await logContent(await openEtcdLog(etcdLog))).toEqual(content);
      await served(serving.split(" ").at(-1) ?? "", async (connection) => {
        expect(await verified(connection)).toMatchObject({ valid: true, proven: { size: expect.any(Number) } });
        // Sessions of the running gateway are seen.
        const busy = startCommand(here(`migrate -c ${next} --to ${back}`).split(" "), env);
        expect((await busy.ended).out).toContain("must be stopped first");
      });
      const refused = startCommand(here(`serve -c ${now} --services gateway`).split(" "), env);
      expect((await refused.ended).out).toContain("store_moved");

      const home = await killedUntilDone(
        { proxy: toEtcd, request: "/seneschal/scheduler/" },
        here(`migrate -c ${next} --to ${back}`).split(" "),
        env,
      );
      expect(home.kills).toBeGreaterThan(1);
      expect(await logContent(await openLevelLog({ path: here("/var/lib/moved/scheduler/log") }))).toEqual(content);
      await served(back, async (connection) => {
        expect(await verified(connection)).toMatchObject({ valid: true, proven: { size: expect.any(Number) } });
      });
    } finally {
      await Promise.all([toPostgres.close(), toEtcd.close()]);
      await Promise.all([postgres.destroy(), etcd.destroy()]);
      await rm(root, { recursive: true, force: true });
    }
  },
  600_000,
);
