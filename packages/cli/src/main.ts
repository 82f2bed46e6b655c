#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { processHost } from "./process-host.ts";
import { run } from "./run.ts";

// Of a place in code whose objects once lived long V8 allocates all in old space from then on, among them what is made of each request. A service
// would fill it with garbage, and stand still while it is cleared.
setFlagsFromString("--no-allocation-site-pretenuring");
process.exitCode = await run(process.argv.slice(2), processHost());
