/**
 * A throw-away etcd cluster on loopback for tests and benchmarks. Needs Debian's `etcd-server` (`etcd` on the PATH).
 *
 * `node --import tsx --conditions=@seneschal/source tools/etcd-cluster.ts` starts three members, prints their endpoints
 * and runs until it is interrupted.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EtcdClient, type EtcdTls } from "@seneschal/adapters/etcd";
import { freePort } from "./free-port.ts";

export interface EtcdClusterOptions {
  /** Default 3. */
  readonly members?: number;
  readonly quotaBytes?: number;
  /** Server certificate for the client URLs; `clientCertAuth` demands client certificates signed by the CA. */
  readonly tls?: {
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
    readonly clientCertAuth?: boolean;
  };
  readonly extraArguments?: readonly string[];
}

export interface EtcdCluster {
  readonly endpoints: readonly string[];
  /** The place of the leader among the endpoints, once there is one. */
  leader(): Promise<number>;
  kill(member: number): Promise<void>;
  pause(member: number): void;
  resume(member: number): void;
  restart(member: number): Promise<void>;
  destroy(): Promise<void>;
}

/** True when `etcd` can be started here. */
export function etcdInstalled(): boolean {
  return spawnSync("etcd", ["--version"]).status === 0;
}

/** Starts a cluster and waits until it has a leader. `clientTls` is what this tool itself connects with. */
export async function startEtcdCluster(options: EtcdClusterOptions = {}, clientTls?: EtcdTls): Promise<EtcdCluster> {
  const directory = mkdtempSync(join(tmpdir(), "etcd-"));
  const scheme = options.tls === undefined ? "http" : "https";
  const members = await Promise.all(
    Array.from({ length: options.members ?? 3 }, async (_, at) => ({
      name: `n${at + 1}`,
      client: `${scheme}://127.0.0.1:${await freePort()}`,
      peer: `http://127.0.0.1:${await freePort()}`,
    })),
  );
  const processes: (ChildProcess | undefined)[] = [];
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ETCD_")));
  const start = (at: number, state: "new" | "existing"): void => {
    const { name, client, peer } = members[at] as (typeof members)[0];
    const flags: Readonly<Record<string, string>> = {
      name,
      "data-dir": join(directory, name),
      "listen-client-urls": client,
      "advertise-client-urls": client,
      "listen-peer-urls": peer,
      "initial-advertise-peer-urls": peer,
      "initial-cluster-token": directory,
      "initial-cluster": members.map((member) => `${member.name}=${member.peer}`).join(","),
      "initial-cluster-state": state,
      "heartbeat-interval": "50",
      "election-timeout": "300",
      logger: "zap",
      "log-level": "error",
      ...(options.quotaBytes === undefined ? {} : { "quota-backend-bytes": String(options.quotaBytes) }),
      ...(options.tls === undefined
        ? {}
        : {
            "cert-file": options.tls.certFile,
            "key-file": options.tls.keyFile,
            "trusted-ca-file": options.tls.caFile,
            ...(options.tls.clientCertAuth === true ? { "client-cert-auth": "true" } : {}),
          }),
    };
    const args = [
      ...Object.entries(flags).flatMap(([flag, value]) => (value === "true" ? [`--${flag}`] : [`--${flag}`, value])),
      ...(options.extraArguments ?? []),
    ];
    processes[at] = spawn("etcd", args, {
      env: { ...environment, ...(process.arch === "arm64" ? { ETCD_UNSUPPORTED_ARCH: "arm64" } : {}) },
      stdio: "ignore",
    });
  };
  const kill = async (at: number): Promise<void> => {
    const child = processes[at];
    processes[at] = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await ended;
  };
  const probe = new EtcdClient({
    endpoints: members.map((member) => member.client),
    tryMs: 500,
    ...(clientTls === undefined ? {} : { tls: clientTls }),
  });
  const leader = async (): Promise<number> => {
    for (let attempt = 0; attempt < 300; attempt += 1) {
      const states = await probe.callAll<{ readonly header: { readonly member_id: string }; readonly leader: string }>(
        "Maintenance.Status",
        {},
      );
      const found = states.findIndex((state) => state !== undefined && state.leader === state.header.member_id);
      if (found >= 0) return found;
      await wait(50);
    }
    throw new Error("the etcd cluster has no leader");
  };
  for (const at of members.keys()) start(at, "new");
  await leader();
  return {
    endpoints: members.map((member) => member.client),
    leader,
    kill,
    pause: (at) => void processes[at]?.kill("SIGSTOP"),
    resume: (at) => void processes[at]?.kill("SIGCONT"),
    restart: async (at) => {
      await kill(at);
      start(at, "existing");
      await leader();
    },
    destroy: async () => {
      probe.close();
      await Promise.all(members.map((_, at) => kill(at)));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const cluster = await startEtcdCluster();
  console.log(cluster.endpoints.join(","));
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void cluster.destroy().then(() => process.exit(0)));
}
