import type { NewPool } from "@seneschal/contract/storage";
import type { ClusterCommand } from "@seneschal/core/storage";

/** What makes a pool as an operator asked for it. */
export function poolCommand({ pool_id, class: deviceClass, durability }: NewPool): ClusterCommand {
  const base = { kind: "pool.create", id: pool_id, class: deviceClass } as const;
  if (durability === undefined) return base;
  const { data, parity, copies } = { data: 0, parity: 0, copies: 0, ...durability };
  return {
    ...base,
    durability: "copies" in durability ? { kind: "replication", copies } : { kind: "ec", data, parity },
  };
}
