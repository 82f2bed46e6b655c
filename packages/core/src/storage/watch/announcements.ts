import { checkArgument } from "@seneschal/kernel";
import type { ClusterState } from "../cluster/state.ts";
import type { ClusterCommand } from "../cluster/step.ts";
import type { Overcommitment } from "../device/capacity.ts";
import type { DeviceTransition } from "../device/step.ts";
import type { PoolState } from "../pool/thresholds.ts";
import type { InlineReason } from "../shard/inline-threshold.ts";
import type { EventCategory, Severity } from "./events.ts";
import type { NodeStatus } from "./health.ts";

/** What operators are told of a change: an entry of the event log that is yet to be written. */
export interface Announcement {
  readonly severity: Severity;
  readonly category: EventCategory;
  readonly message: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

const announcement = (
  severity: Severity,
  category: EventCategory,
  message: string,
  details: Announcement["details"] = {},
): Announcement => ({ severity, category, message, details });

/** A committed change of the cluster's state. */
export interface CommittedChange {
  readonly command: ClusterCommand;
  readonly before: ClusterState;
  readonly after: ClusterState;
  /** Of the device that the command is about. */
  readonly transitions: readonly DeviceTransition[];
  /** Who asked for it. */
  readonly actor: { readonly id: string };
}

/**
 * What is told of a committed change, whichever node made it; nothing of what operators did not ask for and need not know.
 *
 * @example
 * ```ts
 * import { announceChange, emptyCluster } from "@seneschal/core/storage";
 * const change = { before: emptyCluster, after: emptyCluster, transitions: [], actor: { id: "ada" } };
 * console.log(announceChange({ ...change, command: { kind: "maintenance.set", enabled: true } })[0]?.message); // maintenance on: cluster
 * ```
 */
export function announceChange(change: CommittedChange): readonly Announcement[] {
  checkArgument("change", change, "object");
  const { command, transitions, actor, before, after } = change;
  const by = actor.id;
  switch (command.kind) {
    case "device.event":
      return transitions.map(({ from, to, reason }) =>
        announcement(
          to === "Failed" ? "error" : to === "Removed" ? "info" : "warning",
          "device",
          `device ${command.id}: ${from} to ${to}`,
          { device: command.id, reason, by },
        ),
      );
    case "device.add": {
      const { id: device, pool, node } = command.device;
      return [announcement("info", "device", `device ${device} added to pool ${pool}`, { device, node, by })];
    }
    case "device.delete":
      return [announcement("info", "device", `device ${command.id} forgotten`, { device: command.id, by })];
    case "pool.create":
    case "pool.delete": {
      const done = command.kind === "pool.create" ? "made" : "gone";
      return [announcement("info", "device", `pool ${command.id} ${done}`, { pool: command.id, by })];
    }
    case "maintenance.set": {
      const message = `maintenance ${command.enabled ? "on" : "off"}: ${command.shard ?? "cluster"}`;
      return [announcement("warning", "admin", message, { by })];
    }
    case "tuning.set":
      return Object.entries(command.values).map(([name, value]) =>
        announcement("info", "admin", `tuning ${name}: ${before.tuning[name as keyof typeof before.tuning]} to ${value}`, { by }),
      );
    case "pool.thresholds":
      return [announcement("info", "admin", `thresholds of pool ${command.id} changed`, { by })];
    case "node.join":
      if (before.nodes[command.node.id] !== undefined) return [];
      return [announcement("info", "node", `node ${command.node.id} joined`, { node: command.node.id })];
    case "node.state": {
      const message = `node ${command.id}: ${before.nodes[command.id]?.state} to ${command.state}`;
      return [announcement("warning", "node", message, { node: command.id, by })];
    }
    case "shard.split": {
      const message = `shard ${command.id} split, ${after.shards.length} shards now`;
      return [announcement("info", "shard", message, { shard: command.id, by })];
    }
    case "shard.migrate": {
      const message = `shard ${command.id} moves from ${command.from ?? "nowhere"} to ${command.to}`;
      return [announcement("info", "shard", message, { shard: command.id })];
    }
    case "shard.promote":
    case "shard.demote":
      if (!after.shards.some((s) => s.id === command.id && s.migration === undefined)) return [];
      return [announcement("info", "shard", `shard ${command.id} moved`, { shard: command.id })];
    case "shard.abort": {
      const message = `shard ${command.id} does not move: the learner does not answer`;
      return [announcement("warning", "shard", message, { shard: command.id })];
    }
    case "key.rotate":
      return [announcement("info", "security", `master key rotated to epoch ${command.epoch}`, { by })];
    case "tenant.shred": {
      const message =
        command.done === true
          ? "crypto-shred: the tenant's key was destroyed"
          : "crypto-shred began: the tenant is cut off, its key service is asked to destroy the key";
      return [announcement("critical", "security", message, { tenant: command.tenant, by })];
    }
    default:
      return [];
  }
}

/**
 * What is told when the disk of a device has less room than the device may still take, or has it again.
 *
 * @example
 * ```ts
 * import { announceRoom } from "@seneschal/core/storage";
 * console.log(announceRoom("d1", undefined).severity); // info
 * ```
 */
export function announceRoom(device: string, found: Overcommitment | undefined): Announcement {
  checkArgument("device", device, "string");
  if (found === undefined) return announcement("info", "device", "the disk has the device's capacity again", { device });
  const { promisedBytes, freeBytes, devices } = found;
  const who = devices.length > 1 ? `the ${devices.length} devices on it` : "the device";
  const message = `capacity beyond the disk: ${who} may take ${promisedBytes} bytes more, ${freeBytes} are free`;
  return announcement("warning", "device", message, { device });
}

/**
 * What is told when the flags that a device's readings give it change; none: they were cleared.
 *
 * @example
 * ```ts
 * import { announceFlags } from "@seneschal/core/storage";
 * console.log(announceFlags("d1", []).message); // device flags cleared
 * ```
 */
export function announceFlags(device: string, flags: readonly string[]): Announcement {
  checkArgument("flags", flags, "array");
  if (flags.length === 0) return announcement("info", "device", "device flags cleared", { device });
  return announcement("warning", "device", `device flags: ${flags.join(",")}`, { device });
}

/**
 * What is told when the file system of a device refused a write, and when it has room for that again.
 *
 * @example
 * ```ts
 * import { announceDisk } from "@seneschal/core/storage";
 * console.log(announceDisk("d1", true).severity); // warning
 * ```
 */
export function announceDisk(device: string, full: boolean): Announcement {
  checkArgument("full", full, "boolean");
  return full
    ? announcement("warning", "device", `device ${device}: its file system refused a write, it is full`, { device })
    : announcement("info", "device", `device ${device}: its file system has room again`, { device });
}

/**
 * What is told when a pool comes to another state: beyond a warning writes are refused, or will be.
 *
 * @example
 * ```ts
 * import { announcePool } from "@seneschal/core/storage";
 * console.log(announcePool("p1", "normal", "critical").severity); // critical
 * ```
 */
export function announcePool(pool: string, before: string, state: PoolState): Announcement {
  checkArgument("state", state, "string");
  const severity = state === "normal" ? "info" : state === "warning" ? "warning" : "critical";
  return announcement(severity, "device", `pool ${pool}: ${before} to ${state}`, { pool });
}

/**
 * What is told when a node comes to another status: that devices of it are degraded is told of these.
 *
 * @example
 * ```ts
 * import { announceNode } from "@seneschal/core/storage";
 * console.log(announceNode("n1", "healthy", "unreachable")?.severity); // warning
 * ```
 */
export function announceNode(node: string, before: string, status: NodeStatus): Announcement | undefined {
  checkArgument("status", status, "string");
  if (![status, before].includes("unreachable") && status !== "draining") return undefined;
  const severity = status === "healthy" || status === "degraded" ? "info" : "warning";
  return announcement(severity, "node", `node ${node}: ${before} to ${status}`, { node });
}

/**
 * What is told when another reason holds for the bytes that a shard keeps in metadata.
 *
 * @example
 * ```ts
 * import { announceInlineThreshold } from "@seneschal/core/storage";
 * console.log(announceInlineThreshold("s0", { reason: "Normal", effective: 128 }, 10).severity); // info
 * ```
 */
export function announceInlineThreshold(
  shard: string,
  step: { readonly reason: InlineReason; readonly effective: number },
  systemDiskPercent: number,
): Announcement {
  checkArgument("step", step, "object");
  const { reason, effective: threshold } = step;
  const severity = reason === "Normal" ? "info" : reason === "HardLimitBreached" ? "critical" : "warning";
  const details = { shard, threshold, system_disk_percent: Math.round(systemDiskPercent) };
  return announcement(severity, "shard", `inline threshold: ${reason}`, details);
}

/**
 * What is told when the cluster's log and metadata come into reach, or out of it.
 *
 * @example
 * ```ts
 * import { announceFollowing } from "@seneschal/core/storage";
 * console.log(announceFollowing(false).severity); // critical
 * ```
 */
export function announceFollowing(following: boolean): Announcement {
  checkArgument("following", following, "boolean");
  return following
    ? announcement("info", "raft", "the cluster's log is followed again")
    : announcement("critical", "raft", "the cluster's log or metadata is out of reach: writes fail");
}
