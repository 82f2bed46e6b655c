/**
 * One scheduler process of the fault test: its configuration as JSON on the command line, `ready` on standard output. Lines
 * on standard input command it: `jump MS` moves its clock; `die before append` and `die after append` let it kill itself
 * with its next entry not yet sent, or committed and not yet answered.
 */
import { createInterface } from "node:readline";
import { openEtcdLog } from "@seneschal/adapters/etcd";
import { openLogger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import type { ReplicatedLog } from "@seneschal/kernel/ports";
import { serve } from "@seneschal/server-fastify";
import { etcdOptions, startService } from "../../src/platform/index.ts";
import { schedulerService, schedulerSettings } from "../../src/scheduler/index.ts";

const config = schedulerSettings.parse(JSON.parse(process.argv[2] ?? "{}"));
let ahead = 0;
let death: "before append" | "after append" | undefined;
createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb = "", ...rest] = line.split(" ");
  if (verb === "jump") ahead += Number(rest[0]);
  if (verb === "die") death = rest.join(" ") as typeof death;
});

const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
};

async function mortalLog(): Promise<ReplicatedLog> {
  const log = await openEtcdLog({ ...etcdOptions(config.storage), prefix: config.storage.prefix });
  return {
    ...log,
    append: async (head, entry) => {
      if (death === "before append") await die();
      const result = await log.append(head, entry);
      if (death === "after append" && result.ok) await die();
      return result;
    },
  };
}

await startService(schedulerService({ openLog: mortalLog }), config, {
  serve,
  listen: { host: config.server.host, port: config.server.port },
  clock: { now: () => systemClock.now() + ahead },
  random: systemRandom,
  log: openLogger({ level: "silent" }),
  version: "test",
});
process.stdout.write("ready\n");
