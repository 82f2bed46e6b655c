/**
 * A throw-away PostgreSQL server on loopback for tests and benchmarks. Needs Debian's `postgresql` (its binaries are not on
 * the PATH). Server programs refuse to run as root: as root they are started as the user `postgres`.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Address, ownAddress } from "./own-address.ts";

export interface PostgresServer {
  readonly url: string;
  readonly address: Address;
  /** Runs shell as the user of the server, with its programs, and `PGDATA`, `PGHOST`, `PGPORT`, `PGUSER` and `PGDATABASE` for it. Gives what it wrote. */
  shell(lines: string): string;
  /** `kill -9` of the whole server. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT of the main process and its children. */
  pause(): void;
  resume(): void;
  /** Starts it again on the same data and port. */
  restart(): Promise<void>;
  /** Stops it and removes its data. */
  destroy(): Promise<void>;
}

const root = "/usr/lib/postgresql";

/** The directory of the newest installed server's programs; `undefined` when there is none. */
export function postgresBinaries(): string | undefined {
  if (!existsSync(root)) return undefined;
  const majors = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return majors.map((major) => join(root, major, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

const INIT = 'initdb -D "$PGDATA" -U seneschal -A trust -E UTF8 --locale=C.UTF-8 --no-sync';

/** Creates and starts a server. `settings` are given to it as `-c name=value`; `create` is the shell that makes its directory. */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}, create = INIT): Promise<PostgresServer> {
  const bin = postgresBinaries();
  if (bin === undefined) throw new Error("PostgreSQL is not installed (apt-get install postgresql)");
  const owner = process.getuid?.() === 0 ? userId("postgres") : undefined;
  const directory = mkdtempSync(join(tmpdir(), "postgres-"));
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
  const data = join(directory, "data");
  const address = await ownAddress();
  const { host, port } = address;
  const own = { PGDATA: data, PGHOST: host, PGPORT: String(port), PGUSER: "seneschal", PGDATABASE: "postgres" };
  const env = { ...process.env, ...own, PATH: `${bin}:${process.env["PATH"]}`, LC_ALL: "C.UTF-8" };
  const identity = { ...owner, cwd: directory, env };
  const shell = (lines: string): string => {
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", lines], { ...identity, encoding: "utf8" });
    if (status !== 0) throw new Error(`${lines}: ${stderr}`);
    return stdout;
  };
  shell(create);
  const options = { listen_addresses: host, port: String(port), unix_socket_directories: "", ...settings };
  let server: ChildProcess | undefined;

  const ready = (): boolean =>
    spawnSync(join(bin, "pg_isready"), ["-h", host, "-p", String(port), "-U", "seneschal", "-d", "postgres"]).status === 0;
  const start = async (): Promise<void> => {
    // Backends of a killed server take a moment to notice; until then a new one refuses to start.
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const child = spawn(
        join(bin, "postgres"),
        ["-D", data, ...Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
        {
          ...identity,
          stdio: "ignore",
        },
      );
      while (child.exitCode === null && !ready()) await wait(50);
      if (child.exitCode === null) {
        server = child;
        return;
      }
      await wait(100);
    }
    throw new Error("PostgreSQL does not start");
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    server = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    for (const pid of signal === "SIGKILL" ? familyOf(child.pid) : [child.pid]) signalTo(pid, signal);
    await ended;
  };
  await start();
  return {
    url: `postgres://seneschal@${host}:${port}/postgres`,
    address,
    shell,
    kill: () => end("SIGKILL"),
    pause: () => {
      for (const pid of familyOf(server?.pid)) signalTo(pid, "SIGSTOP");
    },
    resume: () => {
      for (const pid of familyOf(server?.pid)) signalTo(pid, "SIGCONT");
    },
    restart: start,
    destroy: async () => {
      await end("SIGINT");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function userId(name: string): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** A process that we started and its children. */
function familyOf(pid: number | undefined): number[] {
  if (pid === undefined) return [];
  const children = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" }).stdout;
  return [
    pid,
    ...children
      .split("\n")
      .map(Number)
      .filter((child) => child > 0),
  ];
}

function signalTo(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
