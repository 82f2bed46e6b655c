/** `node --import ./tools/run-source.mjs --conditions=@seneschal/source FILE.ts`: TypeScript runs as it is, in worker threads too. */
import { register } from "node:module";

register("./source-hooks.mjs", import.meta.url);
