import type { Reader } from "../store/reader.ts";
import { organizations } from "./collections.ts";

/** Whether an organisation is on this instance. */
export async function isLocal(read: Reader, org: string): Promise<boolean> {
  return (await read.get(organizations, org)) !== undefined;
}
