/** All services on embedded defaults, as `seneschal dev` runs them; the parent asks for the longest turn of their event loop since it last asked, and what they took of the processor. */

import { openLogger } from "@seneschal/adapters/logging";
import { startDev } from "@seneschal/app";
import { serve } from "@seneschal/server-fastify";
import { serveGrpc } from "@seneschal/server-grpc";
import { serveS3 } from "@seneschal/server-s3";
import { turnMeter } from "./turn-meter.ts";

const [dataDir = ""] = process.argv.slice(2);
const unlimited = { limit: 1_000_000_000, window: 60_000 };
const running = await startDev({
  dataDir,
  portBase: "any",
  serve,
  serveS3,
  serveGrpc,
  log: openLogger({ level: "silent" }),
  version: "bench",
  change: (config) => {
    const common = { authenticated: unlimited, anonymous: unlimited };
    return {
      ...config,
      gateway: { ...config.gateway, rate_limit: { ...config.gateway.rate_limit, ...common, guarded: unlimited } },
      governance: { ...config.governance, rate_limit: common },
      scheduler: { ...config.scheduler, rate_limit: { ...config.scheduler.rate_limit, ...common } },
    };
  },
});
const meter = turnMeter();
/** Of all threads, since the process began. */
const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const stop = (): void => void running.stop().then(() => process.exit(0));
process.once("disconnect", stop);
process.on("message", (message) => {
  if (message === "stop") stop();
  // A few ticks later: the turn that answered the last request is not over before it is measured.
  else setTimeout(() => process.send?.({ longest: meter.longest(), processor: processorSeconds() }), 5);
});
process.send?.({ credentials: running.file });
