import type { GroundServices } from "../../ground/index.ts";
import { federations } from "../collections.ts";

/** See {@link GroundServices.hostOf}. */
export const hostOf: GroundServices["hostOf"] = async (read, { id, org, type }) =>
  type === "partner" ? ((await read.get(federations, id))?.org_id ?? org) : org;
