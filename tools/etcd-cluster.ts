/**
 * A throw-away etcd cluster on loopback for tests and benchmarks. Needs Debian's `etcd-server` (`etcd` on the PATH).
 *
 * `node --import ./tools/run-source.mjs --conditions=@seneschal/source tools/etcd-cluster.ts` starts three members, prints their endpoints
 * and runs until it is interrupted.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EtcdClient, type EtcdTls } from "@seneschal/adapters/etcd";
import { openNamespaces } from "./network-namespaces.ts";
import { type Address, ownAddress } from "./own-address.ts";
import { startPeerProxy } from "./peer-proxy.ts";
import { startTcpProxy } from "./tcp-proxy.ts";

const clientPort = 2379;

export interface EtcdClusterOptions {
  /** Default 3. */
  readonly members?: number;
  readonly quotaBytes?: number;
  /** Server certificate for the client URLs, which must name `addresses`; `clientCertAuth` demands client certificates signed by the CA. */
  readonly tls?: {
    /** Where each member listens for clients. */
    readonly addresses: readonly Address[];
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
    readonly clientCertAuth?: boolean;
  };
  /** Delays every fdatasync by 2 ms, as a slow disk would. Needs `strace`. */
  readonly slowDisk?: boolean;
  /** Puts a proxy in front of every peer port, so that members can be isolated from each other. */
  readonly peerProxies?: boolean;
  /**
   * Puts every member into a network namespace of its own, so that one can be cut off like by a pulled cable, from its
   * peers and its clients. Needs `namespacesWork()`.
   */
  readonly namespaces?: boolean;
}

export interface EtcdCluster {
  /** Of all members that ever were, by their place. */
  readonly endpoints: readonly string[];
  /** The place of the leader among the endpoints, once there is one. */
  leader(): Promise<number>;
  kill(member: number): Promise<void>;
  pause(member: number): void;
  resume(member: number): void;
  restart(member: number): Promise<void>;
  /** Cuts one member off: with `peerProxies` from the others, with `namespaces` from its clients too. */
  isolate(member: number): Promise<void>;
  /** Joins all members again. */
  rejoin(): void;
  /** Adds a member and starts it; gives its place. For clusters without proxies and namespaces. */
  add(): Promise<number>;
  /** Takes a member out of the cluster for good and ends it. */
  remove(member: number): Promise<void>;
  destroy(): Promise<void>;
}

const textOf = ({ host, port }: Address): string => `${host}:${port}`;

/** True when `etcd` can be started here. */
export function etcdInstalled(): boolean {
  return spawnSync("etcd", ["--version"]).status === 0;
}

/** Starts a cluster and waits until it has a leader. `clientTls` is what this tool itself connects with. */
export async function startEtcdCluster(options: EtcdClusterOptions = {}, clientTls?: EtcdTls): Promise<EtcdCluster> {
  const directory = mkdtempSync(join(tmpdir(), "etcd-"));
  const scheme = options.tls === undefined ? "http" : "https";
  const newMember = async (at: number) => ({
    name: `n${at + 1}`,
    client: `${scheme}://${textOf(options.tls?.addresses[at] ?? (await ownAddress()))}`,
    peer: await ownAddress(),
  });
  const members = await Promise.all(Array.from({ length: options.members ?? 3 }, (_, at) => newMember(at)));
  const net = options.namespaces === true ? openNamespaces(members.length) : undefined;
  const forwards = await Promise.all(net?.hosts.map((host) => startTcpProxy(clientPort, host)) ?? []);
  for (const [at, member] of members.entries()) if (net !== undefined) member.client = `http://127.0.0.1:${forwards[at]?.port}`;
  const proxies = options.peerProxies === true ? await Promise.all(members.map(({ peer }) => startPeerProxy(peer))) : [];
  /** Where a member listens for the others. */
  const peerOf = (at: number): Address => {
    const { peer } = members[at] as (typeof members)[0];
    return { ...peer, host: net?.hosts[at] ?? peer.host };
  };
  /** Where the others find it. */
  const peerUrl = (at: number): string => {
    const proxy = proxies[at];
    return `http://${textOf(proxy === undefined ? peerOf(at) : { host: "127.0.0.1", port: proxy.port })}`;
  };
  const gone = new Set<number>();
  const processes: (ChildProcess | undefined)[] = [];
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ETCD_")));
  const start = (at: number, state: "new" | "existing"): void => {
    const { name, client } = members[at] as (typeof members)[0];
    const flags: Readonly<Record<string, string>> = {
      name,
      "data-dir": join(directory, name),
      "listen-client-urls": net === undefined ? client : `http://${net.hosts[at]}:${clientPort}`,
      "advertise-client-urls": client,
      "listen-peer-urls": `http://${textOf(peerOf(at))}`,
      "initial-advertise-peer-urls": peerUrl(at),
      "initial-cluster-token": directory,
      "initial-cluster": members
        .flatMap((member, other) => (gone.has(other) ? [] : [`${member.name}=${peerUrl(other)}`]))
        .join(","),
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
    const args = [...Object.entries(flags).flatMap(([flag, value]) => (value === "true" ? [`--${flag}`] : [`--${flag}`, value]))];
    // -D makes the tracer the grandchild: the process that we started, and may kill, is etcd.
    const slow = [
      "-D",
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      "trace=fdatasync",
      "-e",
      "inject=fdatasync:delay_enter=2000",
      "etcd",
    ];
    const [program, ...rest] = [
      ...(net === undefined ? [] : ["ip", "netns", "exec", net.names[at] as string]),
      ...(options.slowDisk === true ? ["strace", ...slow] : ["etcd"]),
      ...args,
    ] as [string, ...string[]];
    processes[at] = spawn(program, rest, {
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
  const openProbe = (): EtcdClient =>
    new EtcdClient({
      endpoints: members.map((member) => member.client),
      tryMs: 500,
      ...(clientTls === undefined ? {} : { tls: clientTls }),
    });
  let probe = openProbe();
  /**
   * Asks the leader about the members, by etcd's JSON gateway. Changes are refused while members are young: insists. A change that was
   * answered by 503 may have happened all the same: then its repetition is told that it has (ALREADY_EXISTS, NOT_FOUND).
   */
  const membership = async (verb: string, body: object): Promise<unknown> => {
    for (let attempt = 0; ; attempt += 1) {
      const url = `${members[await leader()]?.client}/v3/cluster/member/${verb}`;
      const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
      if (answer.ok) return answer.json();
      const text = await answer.text();
      if (attempt > 0 && /member not found|Peer URLs already exists/i.test(text)) return undefined;
      if (answer.status !== 503 || attempt === 300) throw new Error(`etcd: member ${verb}: ${answer.status} ${text}`);
      await wait(100);
    }
  };
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
    get endpoints() {
      return members.map((member) => member.client);
    },
    leader,
    kill,
    pause: (at) => void processes[at]?.kill("SIGSTOP"),
    resume: (at) => void processes[at]?.kill("SIGCONT"),
    restart: async (at) => {
      await kill(at);
      start(at, "existing");
      await leader();
    },
    isolate: async (at) => {
      if (net !== undefined) return net.cut(at);
      const states = await probe.callAll<{ readonly header: { readonly member_id: string } }>("Maintenance.Status", {});
      const id = BigInt(states[at]?.header.member_id ?? 0).toString(16);
      for (const [other, proxy] of proxies.entries()) proxy.block((from) => other === at || from === id);
    },
    rejoin: () => {
      net?.heal();
      for (const proxy of proxies) proxy.block(() => false);
    },
    add: async () => {
      const at = members.length;
      const member = await newMember(at);
      await membership("add", { peerURLs: [`http://${textOf(member.peer)}`] });
      members.push(member);
      start(at, "existing");
      probe.close();
      probe = openProbe();
      for (let attempt = 0; attempt < 300; attempt += 1) {
        const state = (await probe.callAll<{ readonly leader: string }>("Maintenance.Status", {}))[at];
        if (state !== undefined && state.leader !== "0") return at;
        await wait(50);
      }
      throw new Error("the new member does not join");
    },
    remove: async (at) => {
      const { members: known } = (await membership("list", {})) as { readonly members: readonly { ID: string; name: string }[] };
      const id = known.find(({ name }) => name === members[at]?.name)?.ID;
      await membership("remove", { ID: id });
      gone.add(at);
      await kill(at);
      await leader();
    },
    destroy: async () => {
      probe.close();
      for (const proxy of proxies) proxy.close();
      await Promise.all([...members.map((_, at) => kill(at)), ...forwards.map((forward) => forward.close())]);
      net?.close();
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
