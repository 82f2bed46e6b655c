import { checkArgument } from "@seneschal/kernel";
import type { DeviceState } from "../device/types.ts";
import type { PoolState } from "../pool/thresholds.ts";

export type ClusterHealth = "healthy" | "degraded" | "down";
export type NodeStatus = "healthy" | "degraded" | "unreachable" | "draining";

/** The facts that health and alerts are derived from; nothing else feeds them. */
export interface HealthFacts {
  readonly nodes: readonly { readonly id: string; readonly status: NodeStatus }[];
  readonly devices: readonly { readonly id: string; readonly state: DeviceState; readonly flags: readonly string[] }[];
  readonly pools: readonly {
    readonly id: string;
    readonly state: PoolState;
    readonly usedPercent: number;
    /** Hours until the pool is full at its present rate, where that can be said. */
    readonly hoursToFull?: number;
    /** Devices that take writes, and how many a chunk needs, where they are too few. */
    readonly tooFew?: { readonly found: number; readonly needed: number } | undefined;
  }[];
  readonly shardsWithoutQuorum: readonly string[];
  readonly keyManagerReachable: boolean;
  readonly unreachableTenantKms: number;
  /** Tenants whose key service has not confirmed yet that their key is destroyed. */
  readonly shreddingTenants: number;
  readonly lostChunks: number;
  /** Webhooks that notifications do not reach. */
  readonly failingWebhooks: readonly string[];
  /** Places of metadata that are not what was written. */
  readonly damage: readonly string[];
  readonly scrubOverdueHours: number;
  /** Steps of background work whose last run failed, and on which node. */
  readonly failingSteps: readonly { readonly node: string; readonly step: string }[];
  /** The disks that keep the nodes' own directories. */
  readonly systemDisks: readonly (SystemDisk & { readonly node: string })[];
}

/** Fill of a disk and its limits, percent. */
export interface SystemDisk {
  readonly percent: number;
  readonly soft: number;
  readonly hard: number;
}

/**
 * down: a shard without quorum or no node reachable. degraded: an unreachable node, a device that is not Healthy, a
 * pool at or over warning or with too few devices for a chunk, a key manager or a tenant's key service unreachable, a lost chunk, damaged metadata, background work
 * that fails. Else healthy.
 *
 * @example
 * ```ts
 * import { clusterHealth, type HealthFacts } from "@seneschal/core/storage";
 * const none = { devices: [], pools: [], shardsWithoutQuorum: [], unreachableTenantKms: 0, shreddingTenants: 0, lostChunks: 0 };
 * const quiet = { failingWebhooks: [], damage: [], scrubOverdueHours: 0, failingSteps: [], systemDisks: [], keyManagerReachable: true };
 * const facts: HealthFacts = { ...none, ...quiet, nodes: [{ id: "n1", status: "healthy" }] };
 * console.log(clusterHealth(facts), clusterHealth({ ...facts, shardsWithoutQuorum: ["shard-0"] })); // healthy down
 * ```
 */
export function clusterHealth(facts: HealthFacts): ClusterHealth {
  checkArgument("facts", facts, "object");
  if (facts.shardsWithoutQuorum.length > 0 || facts.nodes.every((n) => n.status === "unreachable")) return "down";
  const degraded =
    facts.nodes.some((n) => n.status === "unreachable") ||
    facts.devices.some((d) => d.state !== "Healthy" && d.state !== "Removed") ||
    facts.pools.some((p) => p.state !== "normal" || p.tooFew !== undefined) ||
    !facts.keyManagerReachable ||
    facts.unreachableTenantKms > 0 ||
    facts.damage.length > 0 ||
    facts.lostChunks > 0 ||
    facts.failingSteps.length > 0;
  return degraded ? "degraded" : "healthy";
}

export interface Alert {
  readonly severity: "warning" | "critical";
  readonly subject: string;
  readonly message: string;
}

/** How far ahead of a full pool an alert begins: enough to buy devices, and too late for that. */
const fillWarningHours = 7 * 24;
const fillCriticalHours = 24;

/**
 * Everything that wants a person's eye, most severe first. Derived from state, so it ends when the state does.
 *
 * @example
 * ```ts
 * import { activeAlerts, type HealthFacts } from "@seneschal/core/storage";
 * const none = { devices: [], pools: [], shardsWithoutQuorum: [], unreachableTenantKms: 0, shreddingTenants: 0, lostChunks: 0 };
 * const quiet = { failingWebhooks: [], damage: [], scrubOverdueHours: 0, failingSteps: [], systemDisks: [], keyManagerReachable: true };
 * const facts: HealthFacts = { ...none, ...quiet, nodes: [{ id: "n1", status: "healthy" }] };
 * console.log(activeAlerts(facts), activeAlerts({ ...facts, keyManagerReachable: false }).length); // [] 1
 * ```
 */
export function activeAlerts(facts: HealthFacts): readonly Alert[] {
  checkArgument("facts", facts, "object");
  const alerts: Alert[] = [];
  const add = (severity: Alert["severity"], subject: string, message: string) => alerts.push({ severity, subject, message });
  for (const shard of facts.shardsWithoutQuorum) add("critical", shard, "no quorum: writes fail");
  if (!facts.keyManagerReachable) add("critical", "key manager", "unreachable: every chunk write fails, cached keys serve reads");
  for (const place of facts.damage) add("critical", "metadata", `damaged: ${place}; nothing is written or collected`);
  if (facts.lostChunks > 0)
    add("critical", "data", `${counted(facts.lostChunks, "chunk")} lost more fragments than parity covers`);
  if (facts.shreddingTenants > 0)
    add(
      "critical",
      "crypto-shred",
      `${counted(facts.shreddingTenants, "tenant key")} not confirmed as destroyed by the key service`,
    );
  for (const { node, step } of facts.failingSteps)
    add("critical", step, `background work fails on ${node}: it was not done when it last should have been`);
  for (const { node, percent, soft, hard } of facts.systemDisks.filter((disk) => disk.percent > disk.soft))
    add(
      percent > hard ? "critical" : "warning",
      "system disk",
      `${node}: ${Math.round(percent)}% full, above the ${percent > hard ? `hard limit of ${hard}` : `soft limit of ${soft}`}%: small objects ${percent > hard ? "are no longer" : "are less often"} kept in metadata`,
    );
  for (const node of facts.nodes) {
    if (node.status === "unreachable") add("critical", node.id, "node unreachable");
    else if (node.status === "draining") add("warning", node.id, "node draining");
  }
  for (const device of facts.devices) {
    if (device.state === "Failed") add("critical", device.id, "device failed");
    else if (device.state === "Degraded" || device.state === "Evacuating")
      add("warning", device.id, `device ${device.state.toLowerCase()}`);
    for (const flag of device.flags) add("warning", device.id, flag.replaceAll("_", " "));
  }
  for (const pool of facts.pools)
    if (pool.state !== "normal")
      add(
        pool.state === "warning" ? "warning" : "critical",
        pool.id,
        `pool ${pool.state.replace("_", " ")} at ${pool.usedPercent}%`,
      );
  for (const { id, tooFew } of facts.pools)
    if (tooFew !== undefined)
      add(
        "critical",
        id,
        `pool takes no chunk: a chunk needs ${counted(tooFew.needed, "device")} that take writes, there are ${tooFew.found}`,
      );
  for (const { id, state, hoursToFull } of facts.pools)
    if (state !== "full" && hoursToFull !== undefined && hoursToFull <= fillWarningHours)
      add(
        hoursToFull <= fillCriticalHours ? "critical" : "warning",
        id,
        `pool full in ${hoursToFull < 48 ? `${Math.floor(hoursToFull)} h` : `${Math.floor(hoursToFull / 24)} days`} at its present rate`,
      );
  if (facts.unreachableTenantKms > 0)
    add("warning", "tenant kms", `${counted(facts.unreachableTenantKms, "tenant key service")} unreachable`);
  for (const webhook of facts.failingWebhooks) add("warning", webhook, "webhook not reached: its notifications wait");
  if (facts.scrubOverdueHours > 0) add("warning", "scrub", `periodic scrub overdue by ${facts.scrubOverdueHours} h`);
  return alerts.sort((a, b) => Number(b.severity === "critical") - Number(a.severity === "critical"));
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
