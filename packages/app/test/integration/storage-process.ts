/** One storage node of the cluster test: data directory and configuration on the command line, `ready` on standard output. */
import { openLogger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { storageServiceSettings } from "../../src/compose/service-settings.ts";
import { startService } from "../../src/platform/index.ts";
import { storageService } from "../../src/storage/service.ts";

const [, , directory = "", json = "{}"] = process.argv;
const config = storageServiceSettings.parse(JSON.parse(json));
await startService(storageService(directory), config, {
  serve,
  listen: { host: config.server.host, port: config.server.port },
  clock: systemClock,
  random: systemRandom,
  log: openLogger({ level: "silent" }),
  version: "test",
});
process.stdout.write("ready\n");
