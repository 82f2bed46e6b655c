/** `node --import ./tools/run-source.mjs --conditions=@seneschal/source FILE.ts`: TypeScript runs as it is, in worker threads too (`--import tsx` serves the main thread alone). */
import { register } from "tsx/esm/api";

register();
