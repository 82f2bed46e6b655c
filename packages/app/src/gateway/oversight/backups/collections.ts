import type { Backup } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";

/** What is known of backups. The payloads lie outside of the database. */
export const backups = collection<Backup>("backups", { by_org: { key: (backup) => [backup.org_id, backup.created_at] } });
