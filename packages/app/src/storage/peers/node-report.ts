import type { EventQuery, GrpcMessage, NodeView, StorageEvent } from "@seneschal/core/storage";
import { diskRoom } from "@seneschal/core/storage";
import type { DiskRoom } from "@seneschal/kernel/ports";

/** The six figures that every node reports. */
export interface NodeFigures {
  readonly raft_entries: number;
  readonly chunk_write_bytes: number;
  readonly chunk_read_bytes: number;
  readonly gateway_requests: number;
  readonly transport_connections: number;
  readonly shard_deltas: number;
}

export const emptyFigures: NodeFigures = {
  raft_entries: 0,
  chunk_write_bytes: 0,
  chunk_read_bytes: 0,
  gateway_requests: 0,
  transport_connections: 0,
  shard_deltas: 0,
};

/** What a process changed in a shard since it started. */
export interface ShardChanges {
  readonly shard_id: string;
  readonly deltas: number;
  readonly bytes: number;
  readonly objects: number;
}

/** What a node says about itself. */
export interface NodeReport {
  readonly node_id: string;
  readonly ready: boolean;
  readonly log_seq: number;
  readonly incarnation: string;
  readonly figures: NodeFigures;
  readonly devices: readonly {
    readonly device_id: string;
    readonly used_bytes: number;
    readonly flags: readonly string[];
    readonly disk: DiskRoom | undefined;
  }[];
  readonly shards: readonly ShardChanges[];
  readonly view: NodeView;
}

/** A report from the wire, where what is zero or empty is absent. */
export function readReport(message: GrpcMessage): NodeReport {
  const list = (field: string) => (message[field] ?? []) as readonly GrpcMessage[];
  const number = (from: GrpcMessage, field: string) => (from[field] as number | undefined) ?? 0;
  const text = (from: GrpcMessage, field: string) => (from[field] as string | undefined) ?? "";
  const texts = (from: GrpcMessage, field: string) => (from[field] ?? []) as readonly string[];
  const view = (message["view"] ?? {}) as GrpcMessage;
  const disk = view["system_disk"] as GrpcMessage | null | undefined;
  return {
    node_id: text(message, "node_id"),
    ready: message["ready"] === true,
    log_seq: number(message, "log_seq"),
    incarnation: text(message, "incarnation"),
    figures: { ...emptyFigures, ...(message["figures"] as Partial<NodeFigures> | undefined) },
    devices: list("devices").map((d) => ({
      device_id: text(d, "device_id"),
      used_bytes: number(d, "used_bytes"),
      flags: texts(d, "flags"),
      disk: diskRoom.read(d["disk"] as GrpcMessage | null | undefined),
    })),
    shards: list("shards").map((s) => ({
      shard_id: text(s, "shard_id"),
      deltas: number(s, "deltas"),
      bytes: number(s, "bytes"),
      objects: number(s, "objects"),
    })),
    view: {
      unreachable_nodes: texts(view, "unreachable_nodes"),
      key_manager_away: view["key_manager_away"] === true,
      tenant_kms_away: texts(view, "tenant_kms_away"),
      damage: texts(view, "damage"),
      failing_steps: texts(view, "failing_steps"),
      system_disk: disk
        ? { percent: number(disk, "percent"), soft: number(disk, "soft"), hard: number(disk, "hard") }
        : undefined,
    },
  };
}

/** A question for events as it travels, and as it is read where it comes. */
export const eventsRequest = {
  write: ({ since, limit, severity, category }: EventQuery): GrpcMessage => ({
    since,
    limit,
    severity: severity ?? "",
    category: category ?? "",
  }),
  read: (message: GrpcMessage): EventQuery => ({
    since: (message["since"] as number | undefined) ?? 0,
    limit: (message["limit"] as number | undefined) ?? 0,
    ...(message["severity"] ? { severity: message["severity"] as StorageEvent["severity"] } : {}),
    ...(message["category"] ? { category: message["category"] as StorageEvent["category"] } : {}),
  }),
};

/** Events as they travel, and as they are read where they come. */
export const eventsReply = {
  write: (events: readonly StorageEvent[]): GrpcMessage => ({
    events: events.map((event) => ({ ...event, details: JSON.stringify(event.details) })),
  }),
  read: (message: GrpcMessage): readonly StorageEvent[] =>
    ((message["events"] ?? []) as readonly GrpcMessage[]).map((event) => ({
      ...(event as unknown as StorageEvent),
      details: JSON.parse(event["details"] as string) as StorageEvent["details"],
    })),
};
