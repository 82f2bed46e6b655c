import { createHash } from "node:crypto";
import type { Principal, RequestFacts } from "@seneschal/contract";
import { situation } from "@seneschal/contract";
import type { Random } from "@seneschal/kernel/ports";

/** What a handler was asked with. */
export interface Asked {
  readonly principal: Principal;
  readonly request: RequestFacts;
  readonly now: number;
}

/** What every command carries; see `Envelope` of the quota commands. */
export interface Stamp {
  readonly id: string;
  readonly by: string;
  readonly digest?: string;
  readonly asked?: number;
  readonly why?: string;
}

/**
 * The envelope of a command. An `Idempotency-Key` becomes its id, bound to the caller and the operation: a repeat is
 * answered by the replicated state itself, in whatever process it arrives, also after a leader change: a yes and a no alike.
 */
export function stamp(random: Random, operation: string, asked: Asked, why?: string): Stamp {
  const { principal, request } = asked;
  const key = request.headers["idempotency-key"];
  const reason = why === undefined ? {} : { why };
  if (key === undefined) return { id: Buffer.from(random(16)).toString("hex"), by: principal.id, ...reason };
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw situation("validation_failed", "headers.idempotency-key: expected 1 to 255 printable ASCII characters", {
      field: "headers.idempotency-key",
    });
  return {
    id: `key:${digest(principal.org, principal.type, principal.id, operation, key)}`,
    by: principal.id,
    digest: digest(Buffer.from(request.rawBody).toString("base64")),
    asked: asked.now,
    ...reason,
  };
}

function digest(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** A new allocation id: UUID version 7 (RFC 9562), so that ids sort by time. */
export function allocationId(now: number, random: Random): string {
  const bytes = Buffer.from(random(16));
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
