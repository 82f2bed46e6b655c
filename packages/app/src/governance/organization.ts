import { wholeLog } from "@seneschal/crypto/audit-log";
import * as z from "zod";

/** The name of an organisation, which its audit log has too: the one of the log over all of them may none have. */
export const organizationSetting = z
  .string()
  .min(1)
  .max(128)
  .refine((name) => name !== wholeLog, `${wholeLog} is the log of all organisations`);
