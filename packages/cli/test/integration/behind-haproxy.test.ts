import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { type Address, ownAddress } from "../../../../tools/own-address.ts";
import { postgresBinaries } from "../../../../tools/postgres-cluster.ts";
import { type Answer, ask, NAME } from "./ask.ts";
import { endProcess } from "./serve-process.ts";
import { startTwoGateways } from "./two-gateways.ts";

const WAIT = { timeout: 60_000 };
/** Addresses of this machine, each somebody's own. */
const BALANCER = "127.91.0.10";
const CLIENT = "127.91.0.77";
const ops = (file: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../../../../ops/haproxy/${file}`, import.meta.url)), "utf8");
const isInstalled = postgresBinaries() !== undefined && spawnSync("haproxy", ["-v"]).status === 0;

it.skipIf(!isInstalled)(
  "two gateways on PostgreSQL behind the HAProxy of ops/haproxy, one killed, one ended and started anew: every request is answered as documented, and what was acknowledged is there once",
  async () => {
    const here = (text: string, root: string): string => text.replace(/\/(?:etc|var)\/[\w./-]*/g, (path) => `${root}${path}`);
    const gateways = await startTwoGateways({
      async configOf(root) {
        await mkdir(join(root, "etc/seneschal"), { recursive: true });
        await mkdir(join(root, "etc/haproxy"), { recursive: true });
        return here(await ops("seneschal.yaml"), root).replace("192.0.2.10", BALANCER);
      },
      names: [NAME],
    });
    const { root, addresses, serving, tls, cli, again } = gateways;
    const balancer = await ownAddress();
    let haproxy: ChildProcess | undefined;
    try {
      await writeFile(join(root, "etc/haproxy/seneschal-ca.pem"), tls.ca);
      let config = here(await ops("haproxy.cfg"), root).replace("bind :8443", `bind ${balancer.host}:${balancer.port}`);
      config = config.replace("default-server ", `default-server source ${BALANCER} `);
      for (const [at, { host, port }] of addresses.entries())
        config = config.replace(`gateway-${at + 1}.seneschal.example:8443`, `${host}:${port}`);
      await writeFile(join(root, "haproxy.cfg"), config);
      const checked = spawnSync("haproxy", ["-c", "-f", join(root, "haproxy.cfg")], { encoding: "utf8" });
      expect([checked.status, `${checked.stdout}${checked.stderr}`]).toEqual([0, expect.not.stringMatching(/warning/i)]);
      haproxy = spawn("haproxy", ["-f", join(root, "haproxy.cfg")], { stdio: "ignore" });
      const ready = (at: Address): Promise<boolean> =>
        ask(at, "/ready", { ca: tls.ca }).then(
          ({ status }) => status === 200,
          () => false,
        );
      await vi.waitUntil(() => ready(balancer), WAIT);

      // Who fails to prove who they are is known by their own address, whoever stands between.
      const stranger = { ca: tls.ca, agent: false as const, servername: NAME, localAddress: CLIENT, path: "/api/v1/workspaces" };
      await new Promise<void>((resolve, reject) => {
        const headers = { authorization: "Bearer a.b.c" };
        request({ ...balancer, ...stranger, headers }, (response) => response.resume().on("end", resolve))
          .on("error", reject)
          .end();
      });
      const audit = await cli("audit", "instance", "-c", "seneschal.yaml", "--set", `data_dir=${root}/data-0`);
      expect(audit.lines.join("\n")).toContain(CLIENT);

      let over = false;
      const made: string[] = [];
      const others: string[] = [];
      let unanswered = 0;
      const once = (key: string, agent: Agent): Promise<Answer | undefined> =>
        ask(balancer, "/api/v1/workspaces", tls, agent, key).catch(() => undefined);
      const client = async (): Promise<void> => {
        while (!over) {
          // A few requests on each connection.
          const agent = new Agent({ keepAlive: true, maxSockets: 1 });
          for (let i = 0; i < 5 && !over; i += 1) {
            const key = randomUUID();
            let answer = await once(key, agent);
            for (let times = 0; answer === undefined && times < 100; times += 1) {
              unanswered += 1;
              answer = await once(key, agent);
            }
            if (answer?.status === 201) made.push(JSON.parse(answer.body).id);
            else others.push(answer === undefined ? "none" : `${answer.status} ${JSON.parse(answer.body).error.code}`);
          }
          agent.destroy();
        }
      };
      const clients = Promise.all(Array.from({ length: 4 }, client));
      clients.catch(() => undefined);
      const more = (count: number): Promise<unknown> => {
        const from = made.length;
        return vi.waitUntil(() => made.length >= from + count, WAIT);
      };
      /** How many requests a process has served since its start. */
      const served = async (at: number): Promise<number> => {
        const { body } = await ask(addresses[at] as Address, "/metrics", { ca: tls.ca });
        const counts = [...body.matchAll(/^gateway_http_requests_total\{.*createWorkspace.*\} (\d+)$/gm)];
        return counts.reduce((sum, [, count]) => sum + Number(count), 0);
      };
      await more(20);
      for (const at of [0, 1]) expect(await served(at)).toBeGreaterThan(0);

      await endProcess(serving[0], "SIGKILL");
      await more(20);
      await again(0, "SIGKILL");
      // The balancer has found it again.
      await vi.waitUntil(async () => (await served(0)) > 0, WAIT);
      await endProcess(serving[1], "SIGTERM");
      await more(20);
      over = true;
      await clients;

      // What the killed one had in hand got no answer: one request of each client, and those that met a port that was nobody's.
      expect(unanswered).toBeLessThan(100);
      // Nobody knows whether that was done: a repeat says so, and the list tells. A 503 says when to come again.
      expect(others.filter((other) => !/^(?:409 CONFLICT|503 [A-Z_]+)$/.test(other))).toEqual([]);
      const unknown = others.filter((other) => other === "409 CONFLICT").length;
      expect(unknown).toBeLessThanOrEqual(8);
      const listed: string[] = [];
      for (let total = 1; listed.length < total; ) {
        const { body } = await ask(balancer, `/api/v1/workspaces?limit=1000&offset=${listed.length}`, tls);
        const page = JSON.parse(body);
        total = page.total;
        listed.push(...page.workspaces.map(({ id }: { id: string }) => id));
      }
      expect(made.filter((id) => !listed.includes(id))).toEqual([]);
      // The first one is bootstrap's.
      expect(listed.length).toBeGreaterThanOrEqual(made.length + 1);
      expect(listed.length).toBeLessThanOrEqual(made.length + 1 + unknown);
    } finally {
      await endProcess(haproxy, "SIGKILL");
      await gateways.destroy();
    }
  },
);
