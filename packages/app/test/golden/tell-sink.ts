import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { systemRandom } from "@seneschal/adapters/system";
import type { Clock, DocumentStore } from "@seneschal/kernel/ports";
import { auditSinksSetting, openAuditSinks } from "../../src/platform/index.ts";
import { strictBackground } from "../platform/strict-background.ts";

/** Tells a file in the directory all that a store's audit log holds: how far it has heard is kept in the store. */
export async function tellSink(store: DocumentStore, clock: Clock, directory: string): Promise<void> {
  const log = openLogger({ level: "silent" });
  const metrics = openMetrics({ prefix: "golden", version: "test" });
  const sinks = await openAuditSinks({
    settings: auditSinksSetting.parse({ lines: { kind: "file", path: join(directory, "audit.jsonl"), from: "beginning" } }),
    store: async () => store,
    platform: { log, metrics, background: strictBackground(log), clock, random: systemRandom },
    service: "golden",
    instance: "golden",
    describe: ({ seq }) => ({
      id: `${seq}`,
      time: new Date(clock.now()).toISOString(),
      type: "t",
      actor: "a",
      outcome: "success",
    }),
  });
  await sinks.deliver();
  await sinks.close();
}
