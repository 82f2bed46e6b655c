/**
 * One storage node of the cluster tests: data directory and configuration on the command line, `ready` on standard output. A line
 * of standard input is how many milliseconds its clock goes ahead of the machine's.
 */

import { createInterface } from "node:readline";
import { openLogger } from "@seneschal/adapters/logging";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { storageServiceSettings } from "../../src/compose/service-settings.ts";
import { startService } from "../../src/platform/index.ts";
import { storageService } from "../../src/storage/service.ts";

const [, , directory = "", json = "{}"] = process.argv;
let ahead = 0;
createInterface({ input: process.stdin }).on("line", (line) => {
  ahead = Number(line);
});
const config = storageServiceSettings.parse(JSON.parse(json));
await startService(storageService(directory, { serveS3, serveGrpc }), config, {
  serve,
  listen: { host: config.server.host, port: config.server.port },
  clock: { now: () => systemClock.now() + ahead },
  random: systemRandom,
  log: openLogger({ level: "silent" }),
  version: "test",
});
process.stdout.write("ready\n");
