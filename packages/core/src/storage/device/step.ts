import { checkArgument } from "@seneschal/kernel";
import type { Device, DeviceState, SmartReading } from "./types.ts";

/** What happens to a device. Guards are facts that the caller measured. */
export type DeviceEvent =
  | { readonly kind: "degrade"; readonly reason: string }
  /** `targets`: Healthy devices of the same pool, other than this one, that have room. `needed`: fragments per chunk. */
  | {
      readonly kind: "evacuate";
      readonly trigger: "automatic" | "operator";
      readonly targets: number;
      readonly needed: number;
      readonly reason: string;
      readonly reading?: SmartReading;
    }
  /** The device stopped answering: no guard, Failed at once, repair rebuilds from the survivors. */
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "cancel"; readonly reading?: SmartReading }
  | { readonly kind: "clear_hold" }
  /** `references`: fragments that placement records still count on this device. */
  | { readonly kind: "complete"; readonly references: number }
  | { readonly kind: "fail"; readonly reason: string }
  | { readonly kind: "remove"; readonly references: number };

/** One recorded transition. */
export interface DeviceTransition {
  readonly from: DeviceState;
  readonly to: DeviceState;
  readonly reason: string;
}

export type DeviceStep =
  | { readonly ok: true; readonly device: Device; readonly transitions: readonly DeviceTransition[] }
  | { readonly ok: false; readonly error: "DeviceTransitionRefused" | "EvacuationRefused"; readonly message: string };

// INVARIANT: the only edges of the state graph. Nothing leads back to Healthy: a replaced disk is a new device.
const edges: Readonly<Record<DeviceState, readonly DeviceState[]>> = {
  Healthy: ["Degraded"],
  Degraded: ["Evacuating"],
  Evacuating: ["Degraded", "Failed"],
  Failed: ["Removed"],
  Removed: [],
};

/**
 * True when the state graph has the edge. Guards come on top, in {@link stepDevice}.
 *
 * @example
 * ```ts
 * import { canTransition } from "@seneschal/core/storage";
 * console.log(canTransition("Healthy", "Degraded"), canTransition("Removed", "Healthy")); // true false
 * ```
 */
export function canTransition(from: DeviceState, to: DeviceState): boolean {
  checkArgument("from", from, "string");
  checkArgument("to", to, "string");
  return edges[from].includes(to);
}

/**
 * True when `next` is worse than `held` in any value that a trigger reads.
 *
 * @example
 * ```ts
 * import { readingWorsened } from "@seneschal/core/storage";
 * console.log(readingWorsened({ badSectors: 1 }, { badSectors: 2 }), readingWorsened({ badSectors: 2 }, { badSectors: 2 })); // true false
 * ```
 */
export function readingWorsened(held: SmartReading, next: SmartReading): boolean {
  checkArgument("held", held, "object");
  checkArgument("next", next, "object");
  const worse = (a: number | undefined, b: number | undefined) => b !== undefined && b > (a ?? 0);
  return (
    worse(held.wearPercent, next.wearPercent) ||
    worse(held.badSectors, next.badSectors) ||
    worse(held.uncorrectableReads, next.uncorrectableReads)
  );
}

/**
 * The one transition function of devices: the next device with every recorded step, or the reason why nothing changed.
 *
 * @example
 * ```ts
 * import { stepDevice } from "@seneschal/core/storage";
 * const device = { id: "d1", node: "n1", pool: "fast", class: "ssd", capacityBytes: 1, state: "Healthy", evacuated: false, reason: "added", since: 0 } as const;
 * const step = stepDevice(device, { kind: "degrade", reason: "latency" }, 1);
 * console.log(step.ok && step.device.state); // Degraded
 * ```
 */
export function stepDevice(device: Device, event: DeviceEvent, now: number): DeviceStep {
  checkArgument("device", device, "object");
  checkArgument("event", event, "object");
  checkArgument("now", now, "number");
  switch (event.kind) {
    case "degrade":
      return device.state === "Healthy" ? walk(device, ["Degraded"], event.reason, now) : refuse(device, "Degraded");
    case "evacuate": {
      if (device.state !== "Healthy" && device.state !== "Degraded") return refuse(device, "Evacuating");
      if (event.trigger === "automatic" && device.hold !== undefined && !readingWorsened(device.hold, event.reading ?? {}))
        return refused(`device ${device.id}: an operator cancelled this evacuation and the reading has not worsened`);
      if (event.targets < event.needed)
        return refused(
          `device ${device.id}: evacuation needs ${event.needed} other Healthy devices with room in pool ${device.pool}, found ${event.targets}`,
        );
      const path: DeviceState[] = device.state === "Healthy" ? ["Degraded", "Evacuating"] : ["Evacuating"];
      return walk(withoutHold(device), path, event.reason, now);
    }
    case "lost": {
      const path = pathToFailed[device.state];
      return path === undefined ? refuse(device, "Failed") : walk(withoutHold(device), path, event.reason, now);
    }
    case "cancel":
      if (device.state !== "Evacuating") return refuse(device, "Degraded");
      return walk({ ...device, hold: event.reading ?? {} }, ["Degraded"], "evacuation cancelled", now);
    case "clear_hold":
      return { ok: true, device: withoutHold(device), transitions: [] };
    case "complete":
      if (device.state !== "Evacuating") return refuse(device, "Failed");
      if (event.references > 0) return refused(`device ${device.id}: ${event.references} fragments still reference it`);
      return walk({ ...device, evacuated: true }, ["Failed", "Removed"], "evacuation complete", now);
    case "fail":
      if (device.state !== "Evacuating") return refuse(device, "Failed");
      return walk({ ...device, evacuated: false }, ["Failed"], event.reason, now);
    case "remove":
      if (device.state !== "Failed") return refuse(device, "Removed");
      if (event.references > 0)
        return refused(`device ${device.id}: ${event.references} live fragments still reference it, repair first`);
      return walk(device, ["Removed"], "no live fragment references it", now);
    default:
      return event satisfies never;
  }
}

const pathToFailed: Readonly<Partial<Record<DeviceState, readonly DeviceState[]>>> = {
  Healthy: ["Degraded", "Evacuating", "Failed"],
  Degraded: ["Evacuating", "Failed"],
  Evacuating: ["Failed"],
};

function walk(device: Device, path: readonly DeviceState[], reason: string, now: number): DeviceStep {
  let current = device;
  const transitions: DeviceTransition[] = [];
  for (const to of path) {
    if (!canTransition(current.state, to)) return refuse(current, to);
    transitions.push({ from: current.state, to, reason });
    current = { ...current, state: to, reason, since: now };
  }
  return { ok: true, device: current, transitions };
}

function withoutHold({ hold: _hold, ...device }: Device): Device {
  return device;
}

function refuse(device: Device, to: DeviceState): DeviceStep {
  return {
    ok: false,
    error: "DeviceTransitionRefused",
    message: `device ${device.id} is ${device.state}: it cannot become ${to}`,
  };
}

function refused(message: string): DeviceStep {
  return { ok: false, error: "EvacuationRefused", message };
}
