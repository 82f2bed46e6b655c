#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { processHost } from "./process-host.ts";
import { run } from "./run.ts";

const argv = process.argv.slice(2);
// Of a place in code whose objects once lived long V8 allocates all in old space from then on, among them what is made of each request. A service
// would fill it with garbage, and stand still while it is cleared.
setFlagsFromString("--no-allocation-site-pretenuring");
// What ends by itself is over before most of what V8 optimises has paid for it: a check of a thousand rules costs half as much if V8 waits until
// code is hot by more than its own measure, and a run of a thousand tests no more. By the release, as the flag is not the same in all.
const waits: Readonly<Record<string, string>> = {
  20: "--interrupt-budget=1000000",
  22: "--invocation-count-for-turbofan=30000",
  24: "--invocation-count-for-turbofan=30000",
  26: "--invocation-count-for-turbofan=30000",
};
const wait = waits[Number.parseInt(process.versions.node, 10)];
if (wait !== undefined && !argv.some((word) => word === "serve" || word === "dev")) setFlagsFromString(wait);
process.exitCode = await run(argv, processHost());
