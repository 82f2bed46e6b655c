import type { ClusterChange } from "../cluster/cluster-control.ts";
import type { StorageContext } from "../context.ts";

/** Tells the event log of a committed change, whichever node made it. */
export function announceChange(
  context: Pick<StorageContext, "emit">,
  { command, transitions, actor, before, after }: ClusterChange,
): void {
  const by = actor.id;
  switch (command.kind) {
    case "device.event":
      for (const { from, to, reason } of transitions)
        context.emit(
          to === "Failed" ? "error" : to === "Removed" ? "info" : "warning",
          "device",
          `device ${command.id}: ${from} to ${to}`,
          { device: command.id, reason, by },
        );
      break;
    case "device.add":
      context.emit("info", "device", `device ${command.device.id} added to pool ${command.device.pool}`, {
        device: command.device.id,
        node: command.device.node,
        by,
      });
      break;
    case "device.delete":
      context.emit("info", "device", `device ${command.id} forgotten`, { device: command.id, by });
      break;
    case "pool.create":
    case "pool.delete":
      context.emit("info", "device", `pool ${command.id} ${command.kind === "pool.create" ? "made" : "gone"}`, {
        pool: command.id,
        by,
      });
      break;
    case "maintenance.set":
      context.emit("warning", "admin", `maintenance ${command.enabled ? "on" : "off"}: ${command.shard ?? "cluster"}`, { by });
      break;
    case "tuning.set":
      for (const [name, value] of Object.entries(command.values))
        context.emit("info", "admin", `tuning ${name}: ${before.tuning[name as keyof typeof before.tuning]} to ${value}`, { by });
      break;
    case "pool.thresholds":
      context.emit("info", "admin", `thresholds of pool ${command.id} changed`, { by });
      break;
    case "node.join":
      if (before.nodes[command.node.id] === undefined)
        context.emit("info", "node", `node ${command.node.id} joined`, { node: command.node.id });
      break;
    case "node.state":
      context.emit("warning", "node", `node ${command.id}: ${before.nodes[command.id]?.state} to ${command.state}`, {
        node: command.id,
        by,
      });
      break;
    case "shard.split":
      context.emit("info", "shard", `shard ${command.id} split, ${after.shards.length} shards now`, { shard: command.id, by });
      break;
    case "shard.migrate":
      context.emit("info", "shard", `shard ${command.id} moves from ${command.from ?? "nowhere"} to ${command.to}`, {
        shard: command.id,
      });
      break;
    case "shard.promote":
    case "shard.demote":
      if (after.shards.some((s) => s.id === command.id && s.migration === undefined))
        context.emit("info", "shard", `shard ${command.id} moved`, { shard: command.id });
      break;
    case "shard.abort":
      context.emit("warning", "shard", `shard ${command.id} does not move: the learner does not answer`, { shard: command.id });
      break;
    case "key.rotate":
      context.emit("info", "security", `master key rotated to epoch ${command.epoch}`, { by });
      break;
    case "tenant.shred":
      context.emit(
        "critical",
        "security",
        command.done === true
          ? "crypto-shred: the tenant's key was destroyed"
          : "crypto-shred began: the tenant is cut off, its key service is asked to destroy the key",
        { tenant: command.tenant, by },
      );
      break;
    default:
      break;
  }
}
