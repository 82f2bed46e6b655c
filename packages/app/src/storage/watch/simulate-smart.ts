import type { SmartReading } from "@seneschal/core/storage";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { type Actor, commit } from "../context.ts";

/** SMART readings that somebody made up, for tests and demonstrations. Any node takes them; a device's own node acts on them. */
export interface SmartSimulation {
  /** What a device is to report, if anything was said. */
  read(device: string): Promise<SmartReading | undefined>;
  /** Replaces what a device reports from its next round on; `undefined`: it speaks for itself again. */
  set(device: string, reading: SmartReading | undefined, actor: Actor): Promise<void>;
}

const coll = "storage_simulated_smart";

export function simulateSmart(store: DocumentStore): SmartSimulation {
  return {
    async read(device) {
      return (await store.get(coll, device))?.doc;
    },
    async set(device, reading, { id: actor, source }) {
      const event = {
        action: "device.simulate_smart",
        device,
        reading: (reading as JsonObject | undefined) ?? null,
        actor,
        source,
      };
      const change =
        reading === undefined ? { dels: [{ coll, id: device }] } : { puts: [{ coll, id: device, doc: reading as JsonObject }] };
      await commit(store, { ...change, audit: [{ stream: "storage", event }] });
    },
  };
}
