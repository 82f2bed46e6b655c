import type { Json, JsonObject } from "@seneschal/kernel";
import type { QuotaEvent } from "@seneschal/quota";
import { iso } from "./iso.ts";
import { json } from "./json.ts";

/** Payload fields that are times in milliseconds inside the state and RFC 3339 outside of it. */
const TIMES = new Set(["period_start", "period_end", "timestamp", "started_at", "ended_at", "claimed_at"]);

export function eventView(event: QuotaEvent) {
  return {
    id: typeof event.payload["id"] === "string" ? event.payload["id"] : `${event.type}:${event.seq}`,
    seq: event.seq,
    type: event.type,
    tenant: event.tenant,
    timestamp: iso(event.at),
    payload: json(payloadView(event.payload)),
  };
}

export function payloadView(payload: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, shown(key, value)]));
}

function shown(key: string, value: Json): Json {
  if (TIMES.has(key) && typeof value === "number") return iso(value);
  const settings = (key === "old" || key === "new") && typeof value === "object" && value !== null && !Array.isArray(value);
  if (!settings) return value;
  return Object.fromEntries(Object.entries(value as JsonObject).map(([name, setting]) => [wireName(name), setting]));
}

/** `maxNodes` is `max_nodes` outside of the state. */
function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
