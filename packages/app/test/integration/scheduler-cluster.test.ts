import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { etcdInstalled, startEtcdCluster } from "../../../../tools/etcd-cluster.ts";
import { ownAddress } from "../../../../tools/own-address.ts";
import { sourceOptions } from "../../../../tools/source-options.ts";
import { documentedCluster } from "../scheduler/documented-cluster.ts";

const ADMIN = "token-of-the-administrator";
const COMMAND = new URL("../../../cli/src/main.ts", import.meta.url).pathname;

test.skipIf(!etcdInstalled())(
  "the documented processes start on empty directories, agree who leads, serve each other's work, and outlive the one that leads",
  { timeout: 300_000 },
  async () => {
    const etcd = await startEtcdCluster();
    const root = await mkdtemp(join(tmpdir(), "seneschal-scheduler-cluster-"));
    const children: ChildProcess[] = [];
    try {
      const token = createHash("sha256").update(ADMIN).digest("hex");
      const start = async (at: number, instance: string): Promise<string> => {
        const { host, port } = await ownAddress();
        const data = join(root, `${at}`);
        const file = join(root, `${at}.json`);
        await writeFile(
          file,
          JSON.stringify(documentedCluster({ host, port, instance, endpoints: etcd.endpoints, data, token })),
        );
        const child = spawn(process.execPath, [...sourceOptions, COMMAND, "serve", "-c", file], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        children[at] = child;
        for await (const line of createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })) {
          const said = JSON.parse(line);
          if (said.services !== undefined) return `http://${host}:${port}`;
          if (said.error !== undefined) throw new Error(line);
        }
        throw new Error(`process ${at} ended before it served`);
      };
      // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
      const ask = async (url: string, method: string, path: string, body?: unknown): Promise<any> => {
        const response = await fetch(`${url}${path}`, {
          method,
          headers: { authorization: `Bearer ${ADMIN}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
        return response.headers.get("content-type")?.includes("json") === true ? response.json() : response.text();
      };
      const until = async (happened: () => Promise<boolean>): Promise<void> => {
        await expect.poll(() => happened().catch(() => false), { timeout: 60_000, interval: 100 }).toBe(true);
      };
      const urls = await Promise.all([0, 1, 2].map((at) => start(at, `scheduler-${at + 1}`)));
      const [first] = urls as [string];
      const leaders = (among: readonly string[]) =>
        Promise.all(among.map(async (url) => (await ask(url, "GET", "/api/v1/raft/status")).leader_id as string));
      const agreed = async (among: readonly string[]): Promise<boolean> => {
        const told = await leaders(among);
        return new Set(told).size === 1 && /^scheduler-[123]$/.test(told[0] ?? "");
      };
      await until(() => agreed(urls));
      await ask(first, "POST", "/api/v1/tenants", { name: "physics", max_nodes: 1 });
      await ask(urls[1] as string, "POST", "/api/v1/nodes", { id: "n0" });
      const { id } = await ask(urls[2] as string, "POST", "/api/v1/allocations", { tenant: "physics" });
      await ask(first, "POST", "/api/v1/admin/cycle");
      for (const url of urls) expect((await ask(url, "GET", `/api/v1/allocations/${id}`)).state).toBe("running");
      await ask(first, "POST", "/api/v1/admin/backup");
      expect(await readdir(join(root, "0", "backups"))).toHaveLength(2);

      const [leader = ""] = await leaders([first]);
      const led = Number(leader.slice(-1)) - 1;
      const ended = once(children[led] as ChildProcess, "exit");
      children[led]?.kill("SIGKILL");
      await ended;
      const left = urls.filter((_, at) => at !== led);
      await until(async () => (await agreed(left)) && (await leaders(left))[0] !== leader);
      await ask(left[0] as string, "POST", `/api/v1/allocations/${id}/complete`);
      expect((await ask(left[1] as string, "GET", `/api/v1/allocations/${id}`)).state).toBe("completed");

      // a fourth process under a name that is taken: both are warned of
      const taken = led === 0 ? 2 : 1;
      const twin = await start(3, `scheduler-${taken}`);
      await until(async () => (await ask(twin, "GET", "/metrics")).includes("\nscheduler_instance_id_shared 1\n"));
      expect((await ask(twin, "GET", "/health")).components.instance_id.status).toBe("unhealthy");
    } finally {
      for (const child of children) child?.kill("SIGKILL");
      await etcd.destroy();
      await rm(root, { recursive: true, force: true });
    }
  },
);
