import type { JsonObject } from "@seneschal/kernel";

/** An audit event as it leaves a service, the same for every sink. Its fields are described in docs/audit-sinks.md. */
export interface AuditMessage {
  /** Of this shape. Members are added, never changed. */
  readonly version: 1;
  /** The service that wrote the event: `gateway`, `governance`, `storage`. */
  readonly service: string;
  /** `server.instance_id` of the service. */
  readonly instance: string;
  /** Number of the event in the log of the whole instance, from 1: with `service` and `instance` its name, by which a receiver drops what came twice. */
  readonly seq: number;
  /** Whose log: the organisation's id, `/instance` for events of none. */
  readonly stream: string;
  /** Number of the event in its stream, from 1. */
  readonly stream_seq: number;
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly time: string;
  /** Such as `workspace.create`. */
  readonly type: string;
  readonly actor: string;
  readonly outcome: AuditOutcome;
  /** The event as it is stored, and as the Merkle log has it. */
  readonly event: JsonObject;
}

/** How what was tried ended. */
export type AuditOutcome = "success" | "failure" | "denied";
