/**
 * A process that records audit events in a store on disk and tells them to a receiver, until it is killed: the directory and the receiver's URL on
 * the command line; on standard output a line with the number of each event that is stored.
 */
import { randomUUID } from "node:crypto";
import { openLevelStore } from "@seneschal/adapters/level";
import { openLogger } from "@seneschal/adapters/logging";
import { openMetrics } from "@seneschal/adapters/metrics";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { auditSinkCollections, auditSinksSetting, openAuditSinks, openBackground } from "../../src/platform/index.ts";

const [path = "", url = ""] = process.argv.slice(2);
const store = await openLevelStore({ collections: auditSinkCollections, path });
const log = openLogger({ level: "silent" });
const metrics = openMetrics({ prefix: "gateway", version: "test" });
const sinks = await openAuditSinks({
  settings: auditSinksSetting.parse({ siem: { kind: "syslog", url, from: "beginning" } }),
  store: async () => store,
  platform: { log, metrics, background: openBackground(log, metrics), clock: systemClock, random: systemRandom },
  service: "gateway",
  instance: "here",
  describe: ({ seq }) => ({ id: String(seq), time: new Date(0).toISOString(), type: "test", actor: "ada", outcome: "success" }),
});
const tell = async (): Promise<void> => {
  for (;;) await sinks.deliver();
};
const told = tell();
for (;;) {
  const result = await store.commit({
    commitId: randomUUID(),
    audit: [
      { stream: "acme", event: {} },
      { stream: "acme", event: {} },
    ],
  });
  if (result.ok) for (const { seq } of result.audit) process.stdout.write(`${seq}\n`);
  await Promise.race([told, undefined]);
}
