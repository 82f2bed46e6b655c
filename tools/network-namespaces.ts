import { execFileSync, spawnSync } from "node:child_process";

/** Hosts on one machine: network namespaces on a bridge of their own. */
export interface Namespaces {
  readonly names: readonly string[];
  /** Their addresses, reachable from here and from each other. */
  readonly hosts: readonly string[];
  /** Pulls the cable of one: what is sent to it or by it is lost, nothing is told. */
  cut(at: number): void;
  /** Puts all cables back. */
  heal(): void;
  close(): void;
}

const ip = (...args: readonly string[]): void => {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
};

/** True where namespaces can be made: Linux, root, iproute2. */
export function namespacesWork(): boolean {
  const name = `probe-${process.pid}`;
  if (process.getuid?.() !== 0 || spawnSync("ip", ["netns", "add", name]).status !== 0) return false;
  ip("netns", "del", name);
  return true;
}

/** Makes `count` namespaces; `close` takes everything away again. */
export function openNamespaces(count: number): Namespaces {
  const net = `${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 250}`;
  const bridge = `sb${process.pid}`;
  const names = Array.from({ length: count }, (_, at) => `s${process.pid}-${at}`);
  const hosts = names.map((_, at) => `10.${net}.${at + 10}`);
  ip("link", "add", bridge, "type", "bridge");
  ip("addr", "add", `10.${net}.1/24`, "dev", bridge);
  ip("link", "set", bridge, "up");
  for (const [at, name] of names.entries()) {
    ip("netns", "add", name);
    ip("link", "add", `${bridge}v${at}`, "type", "veth", "peer", "name", "eth0", "netns", name);
    ip("link", "set", `${bridge}v${at}`, "master", bridge, "up");
    ip("-n", name, "addr", "add", `${hosts[at]}/24`, "dev", "eth0");
    ip("-n", name, "link", "set", "eth0", "up");
    ip("-n", name, "link", "set", "lo", "up");
  }
  return {
    names,
    hosts,
    cut: (at) => ip("link", "set", `${bridge}v${at}`, "down"),
    heal: () => {
      for (const at of names.keys()) ip("link", "set", `${bridge}v${at}`, "up");
    },
    close: () => {
      for (const [at, name] of names.entries()) {
        ip("link", "del", `${bridge}v${at}`);
        ip("netns", "del", name);
      }
      ip("link", "del", bridge);
    },
  };
}
