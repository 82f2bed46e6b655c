import { randomBytes } from "node:crypto";
import type { Random } from "@seneschal/kernel/ports";

/** Bytes from the operating system's generator. The array is fresh, owns its whole buffer and may be zeroed. */
export const systemRandom: Random = (length) => new Uint8Array(randomBytes(length));
