/** All services on embedded defaults, as `seneschal dev` runs them, with the pauses of their event loop told to the parent: a message resets what was measured and asks for it. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openLogger } from "@seneschal/adapters/logging";
import { startDev } from "@seneschal/app";
import { serve } from "@seneschal/server-fastify";

const [dataDir = ""] = process.argv.slice(2);
const unlimited = { limit: 1_000_000_000, window: 60_000 };
const running = await startDev({
  ...{ dataDir, portBase: "any", serve, log: openLogger({ level: "silent" }), version: "bench" },
  change: (config) => {
    const common = { authenticated: unlimited, anonymous: unlimited };
    return {
      ...config,
      gateway: { ...config.gateway, rate_limit: { ...config.gateway.rate_limit, ...common, guarded: unlimited } },
      governance: { ...config.governance, rate_limit: common },
    };
  },
});
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on("message", (message) => {
  if (message === "stop") {
    void running.stop().then(() => process.exit(0));
    return;
  }
  // One turn of the loop later: the pause of the last work is not yet recorded in this one.
  setTimeout(() => {
    process.send?.({ longest: delay.max / 1e6 });
    delay.reset();
  }, 5);
});
process.send?.({ credentials: running.file });
