/** One scheduler process of the fault test: its configuration as JSON on the command line, `ready` on standard output. */
import { openLogger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { startService } from "../../src/platform/index.ts";
import { schedulerService, schedulerSettings } from "../../src/scheduler/index.ts";

const config = schedulerSettings.parse(JSON.parse(process.argv[2] ?? "{}"));
await startService(schedulerService(), config, {
  serve,
  listen: { port: config.server.port },
  clock: systemClock,
  random: systemRandom,
  log: openLogger({ level: "silent" }),
  version: "test",
});
process.stdout.write("ready\n");
