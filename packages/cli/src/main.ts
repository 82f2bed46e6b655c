#!/usr/bin/env node
import { processHost } from "./process-host.ts";
import { run } from "./run.ts";

process.exitCode = await run(process.argv.slice(2), processHost());
