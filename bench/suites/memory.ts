import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openLogger } from "@seneschal/adapters/logging";
import { prepareDev } from "@seneschal/app";
import { type Bench, serverOptions } from "../bench.ts";
import { runClient } from "../run-client.ts";

/** How long the load lasts: `MEMORY_SECONDS=60 npm run bench -- --only memory`. */
const seconds = Number(process.env["MEMORY_SECONDS"] ?? 10);
const built = new URL("../../packages/cli/dist/main.js", import.meta.url).pathname;

/** Resident memory of the built server, each time in a fresh process: idle, and its peaks in both halves of a load of encryptions. */
const memory: Bench = {
  name: "memory of a server",
  async run() {
    if (!existsSync(built)) throw new Error("this measures the built server: run `npm run build` first");
    const directory = mkdtempSync(join(tmpdir(), "seneschal-bench-"));
    try {
      const log = openLogger({ level: "silent" });
      const { config, credentials } = await prepareDev({
        dataDir: directory,
        portBase: "any",
        log,
        version: "bench",
        organizations: ["acme"],
      });
      const admin = credentials.organizations["acme"]?.admins.super_admin;
      if (admin === undefined) throw new Error("no admin");
      const { host, port: any, tls_cert, tls_key } = config.gateway.server;
      const unlimited = { limit: 1_000_000_000, window: "1m" };
      const settings = {
        data_dir: directory,
        services: ["gateway"],
        auth: { mtls: { enabled: true, trusted_ca: credentials.ca } },
        gateway: { server: { host, port: any, tls_cert, tls_key }, rate_limit: { authenticated: unlimited } },
      };
      const file = join(directory, "bench.json");
      writeFileSync(file, JSON.stringify(settings));

      const read = (path: string): string => readFileSync(path, "utf8");
      const server = spawn(process.execPath, [...serverOptions, built, "serve", "--config", file], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      try {
        const said = await new Promise<Buffer>((resolve, reject) =>
          server.stdout.once("data", resolve).once("end", () => reject(new Error("no server"))),
        );
        const port = Number(/:(\d+)/.exec(said.toString())?.[1]);
        const connection = { port, ca: read(credentials.ca), cert: read(admin.cert), key: read(admin.key), method: "POST" };
        await pause(3000);
        const idle = resident(server.pid);
        const id = await makeWorkspace(connection);
        const body = JSON.stringify({ plaintext: Buffer.alloc(1024, 7).toString("base64"), context: { purpose: "bench" } });
        const load = {
          ...connection,
          path: `/api/v1/workspaces/${id}/encrypt`,
          body,
          connections: 64,
          milliseconds: seconds * 375,
        };
        const first = await peak(server.pid, runClient("load-client.ts", load));
        const second = await peak(server.pid, runClient("load-client.ts", load));
        return [
          { name: "memory/gateway-idle", value: idle, unit: "MB", bar: "< 150 MB" },
          {
            name: `memory/gateway-peak-in-${seconds}s-of-load`,
            value: second,
            unit: "MB",
            peer: "peak in the first half",
            peerValue: first,
            ratio: second / first,
            bar: "flat",
          },
        ];
      } finally {
        const ended = new Promise((resolve) => server.once("exit", resolve));
        if (server.kill()) await ended;
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** The most megabytes of a process that are in memory while work is done. A single look would say at which point between two collections it was taken. */
async function peak(pid: number | undefined, work: Promise<unknown>): Promise<number> {
  let most = 0;
  let done = false;
  const ended = work.finally(() => {
    done = true;
  });
  while (!done) {
    most = Math.max(most, resident(pid));
    await Promise.race([ended, pause(500)]);
  }
  return most;
}

/** Megabytes of a process that are in memory. */
function resident(pid: number | undefined): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1000;
}

interface Connection {
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly method: string;
}

function makeWorkspace(connection: Connection): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { ...connection, host: "localhost", path: "/api/v1/workspaces", headers: { "content-type": "application/json" } },
      async (response) => {
        let text = "";
        for await (const piece of response.setEncoding("utf8")) text += piece;
        if (response.statusCode === 201) resolve((JSON.parse(text) as { id: string }).id);
        else reject(new Error(`status ${response.statusCode}: ${text}`));
      },
    );
    sent.on("error", reject).end(JSON.stringify({ name: "bench" }));
  });
}

export const benches: readonly Bench[] = [memory];
