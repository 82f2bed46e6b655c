/** What holds of the end of a process, whoever is connected to it and whatever it is connected to. Nothing here is given time: a process that does not end fails by the runner's own limit. */
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Address, ownAddress } from "../../../../tools/own-address.ts";
import { postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";
import { run } from "../../src/run.ts";
import { scriptedHost } from "../scripted-host.ts";
import { startServe } from "./serve-process.ts";

const WAIT = { timeout: 120_000, interval: 100 };
const TOKEN = "a-token-of-thirty-two-characters-and-more";
const sha256 = createHash("sha256").update(TOKEN).digest("hex");
/** Of themselves connections would end in an hour. */
const patient = { read_timeout: "1h", idle_timeout: "1h", shutdown_timeout: "1s" };

let root = "";
const children = new Set<ChildProcess>();
const sockets: Socket[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "seneschal-end-"));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await rm(root, { recursive: true, force: true });
});

const keep = <S extends Socket>(socket: S): S => {
  sockets.push(socket);
  socket.on("error", () => undefined).resume();
  return socket;
};

async function serve(config: object): Promise<ChildProcess> {
  // YAML is a superset of JSON.
  await writeFile(join(root, "seneschal.yaml"), JSON.stringify({ data_dir: join(root, "data"), ...config }));
  return startServe(["serve", "-c", join(root, "seneschal.yaml")], process.env, children);
}

/** Tells a process to end; its code, and whether anything was dropped. */
async function end(child: ChildProcess) {
  let said = "";
  child.stdout?.on("data", (bytes: Buffer) => {
    said += bytes;
  });
  const closed = once(child, "close");
  child.kill("SIGTERM");
  const [code] = (await closed) as [number | null];
  return { code, dropped: said.includes("could be closed in time") };
}

it.each([0, 1])(
  "told to end, a process with %d processes in front ends by itself, whatever connections are open: idle, half-sent, without a handshake, a stream of events",
  async (processes) => {
    const [gateway, scheduler] = (await Promise.all([ownAddress(), ownAddress()])) as [Address, Address];
    const bootstrap = {
      services: ["gateway"],
      data_dir: join(root, "data"),
      auth: { mtls: { enabled: true } },
      gateway: { server: { tls_cert: join(root, "cert.pem"), tls_key: join(root, "key.pem") } },
    };
    await writeFile(join(root, "bootstrap.yaml"), JSON.stringify(bootstrap));
    const host = scriptedHost({ cwd: root });
    for (const line of [
      ["init", "--data", join(root, "data")],
      [
        "bootstrap",
        "--org",
        "acme",
        "--email",
        "ada@acme.example",
        "--out",
        join(root, "out"),
        "-c",
        join(root, "bootstrap.yaml"),
      ],
    ])
      expect(await run(line, host), host.errors.join()).toBe(0);
    const child = await serve({
      services: ["gateway", "scheduler"],
      auth: { mtls: { enabled: true } },
      gateway: { server: { ...patient, ...gateway, ...bootstrap.gateway.server, processes } },
      scheduler: {
        server: { ...patient, ...scheduler, processes },
        tokens: [
          { id: "root", role: "system-admin", sha256 },
          { id: "ada", role: "user", tenant: "physics", sha256: createHash("sha256").update(`${TOKEN}ada`).digest("hex") },
        ],
      },
    });
    const url = `http://${scheduler.host}:${scheduler.port}/api/v1`;
    const post = async (path: string, body: object, token: string) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      const told = (await answer.json()) as { readonly id: string };
      expect(answer.status, JSON.stringify(told)).toBe(201);
      return told;
    };
    await post("/tenants", { name: "physics" }, TOKEN);
    const { id } = await post("/allocations", { tenant: "physics", entrypoint: "true" }, `${TOKEN}ada`);
    const watch = await fetch(`${url}/allocations/${id}/watch`, { headers: { authorization: `Bearer ${TOKEN}ada` } });
    expect(watch.headers.get("content-type")).toContain("text/event-stream");
    const stream = watch.body?.getReader();
    await stream?.read();

    const open = async (at: Address, sends: string): Promise<void> => {
      const socket = keep(connect(at));
      await once(socket, "connect");
      socket.write(sends);
    };
    await open(scheduler, "");
    await open(
      scheduler,
      `POST /api/v1/tenants HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"na`,
    );
    await open(gateway, "");
    await open(gateway, "\x16\x03\x01\x02");
    const secured = async (sends: string): Promise<void> => {
      const ca = await readFile(join(root, "out", "ca.pem"), "utf8");
      const socket = keep(connectTls({ ...gateway, ca, servername: "localhost" }));
      await once(socket, "secureConnect");
      socket.write(sends);
      // Its answer, or that of the next one: what came before was taken by then.
      if (sends.startsWith("GET")) await once(socket, "data");
    };
    await secured("POST /api/v1/workspaces HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\nhalf");
    await secured("GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n");
    expect(await end(child)).toEqual({ code: 0, dropped: false });
    await stream?.cancel().catch(() => undefined);
  },
);

it.skipIf(postgresBinaries() === undefined)(
  "told to end, a process whose database does not answer any more ends, and says so where it could not close it",
  async () => {
    const postgres = await startPostgres();
    const at = await ownAddress();
    try {
      const child = await serve({
        services: ["governance"],
        governance: {
          server: { ...patient, ...at },
          database: { kind: "postgres", url: postgres.url },
          classification: { threads: 0 },
        },
      });
      const health = async () => (await fetch(`http://${at.host}:${at.port}/health`)).status;
      await vi.waitUntil(async () => (await health()) === 200, WAIT);
      postgres.pause();
      const { code, dropped } = await end(child);
      // In time or dropped: it depends on what was under way.
      expect([code, dropped]).toEqual(dropped ? [3, true] : [0, false]);
    } finally {
      postgres.resume();
      await postgres.destroy();
    }
  },
);
