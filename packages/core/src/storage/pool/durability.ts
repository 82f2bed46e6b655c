import { checkArgument } from "@seneschal/kernel";
import type { DeviceClass } from "../device/types.ts";

/** How a chunk is spread. Replication n is one data fragment with n - 1 copies. */
export type Durability =
  | { readonly kind: "ec"; readonly data: number; readonly parity: number }
  | { readonly kind: "replication"; readonly copies: number };

/** Fragment counts of a durability: `data` of the `data + parity` fragments rebuild the chunk. */
export interface Stripe {
  readonly data: number;
  readonly parity: number;
}

/**
 * The fragments of a chunk: copies are fragments of which any one rebuilds it.
 *
 * @example
 * ```ts
 * import { stripeOf } from "@seneschal/core/storage";
 * console.log(stripeOf({ kind: "replication", copies: 3 })); // { data: 1, parity: 2 }
 * ```
 */
export function stripeOf(durability: Durability): Stripe {
  checkArgument("durability", durability, "object");
  return durability.kind === "ec"
    ? { data: durability.data, parity: durability.parity }
    : { data: 1, parity: durability.copies - 1 };
}

/**
 * How many fragments of a chunk must land before a write is acknowledged: those that rebuild it, and one more where there are more.
 *
 * @example
 * ```ts
 * import { acknowledgeOf } from "@seneschal/core/storage";
 * console.log(acknowledgeOf({ kind: "ec", data: 4, parity: 2 }), acknowledgeOf({ kind: "replication", copies: 3 })); // 5 2
 * ```
 */
export function acknowledgeOf(durability: Durability): number {
  const { data, parity } = stripeOf(durability);
  return data + Math.min(1, parity);
}

/**
 * `ec-4-2`, `replication-3`: the bounded label of metrics and replies.
 *
 * @example
 * ```ts
 * import { durabilityName } from "@seneschal/core/storage";
 * console.log(durabilityName({ kind: "ec", data: 4, parity: 2 })); // ec-4-2
 * ```
 */
export function durabilityName(durability: Durability): string {
  checkArgument("durability", durability, "object");
  return durability.kind === "ec" ? `ec-${durability.data}-${durability.parity}` : `replication-${durability.copies}`;
}

export const classDurability: Readonly<Record<DeviceClass, Durability>> = {
  ssd: { kind: "ec", data: 4, parity: 2 },
  nvme: { kind: "ec", data: 4, parity: 2 },
  hdd: { kind: "ec", data: 8, parity: 3 },
  custom: { kind: "replication", copies: 3 },
  mixed: { kind: "replication", copies: 3 },
};

/**
 * Why the durability cannot be used; `undefined` when it can. EC data 2-16, parity 1-8; replication 2-5.
 *
 * @example
 * ```ts
 * import { durabilityProblem } from "@seneschal/core/storage";
 * console.log(durabilityProblem({ kind: "ec", data: 4, parity: 2 }), durabilityProblem({ kind: "ec", data: 1, parity: 2 }) !== undefined); // undefined true
 * ```
 */
export function durabilityProblem(durability: Durability): string | undefined {
  checkArgument("durability", durability, "object");
  const within = (name: string, value: number, low: number, high: number) =>
    Number.isInteger(value) && value >= low && value <= high
      ? undefined
      : `${name} must be an integer from ${low} to ${high}, got ${value}`;
  return durability.kind === "ec"
    ? (within("data", durability.data, 2, 16) ?? within("parity", durability.parity, 1, 8))
    : within("copies", durability.copies, 2, 5);
}

/**
 * How a chunk spreads over nodes, by their number, and how many nodes must acknowledge a write: one node codes over its
 * devices; two and more copy; six and more code 4+2 over nodes.
 *
 * @example
 * ```ts
 * import { clusterDurability } from "@seneschal/core/storage";
 * console.log(clusterDurability(3), clusterDurability(6).stripe); // { copies: 3, acknowledge: 2 } { data: 4, parity: 2 }
 * ```
 */
export function clusterDurability(nodeCount: number): {
  readonly copies: number;
  readonly stripe?: Stripe;
  readonly acknowledge: number;
} {
  if (nodeCount >= 6) return { copies: 1, stripe: { data: 4, parity: 2 }, acknowledge: 4 };
  if (nodeCount >= 3) return { copies: 3, acknowledge: 2 };
  return nodeCount === 2 ? { copies: 2, acknowledge: 2 } : { copies: 1, acknowledge: 1 };
}
