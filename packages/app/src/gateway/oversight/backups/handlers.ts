import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { type Backup, refusal, requireRestorable, startBackup, stepBackup } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import { isCoded } from "@seneschal/kernel";
import {
  base64,
  type Call,
  claimOf,
  currentCrk,
  findOwn,
  listed,
  lostRace,
  organizations,
  type Reader,
  utf8,
} from "../../ground/index.ts";
import type { PartnerServices } from "../../partners/index.ts";
import { workspaces } from "../../workspaces/index.ts";
import { backups } from "../collections.ts";
import { type BackupHead, openBackup, readBackupFile, writeBackupFile } from "./backup-file.ts";
import { gather, readPayload, stage } from "./payload.ts";

type Routes = Pick<GatewayContract, "createBackup" | "listBackups" | "getBackup" | "restoreBackup">;

const findBackup = (read: Reader, id: string, org: string) => findOwn(read, backups, id, org, "backup");

/** Writes the payload and the record of its completion; the file is written again when the transaction is. */
async function complete(services: PartnerServices, call: Call, id: string): Promise<Backup> {
  return services.transact(call, async (unit) => {
    const backup = await findBackup(unit, id, call.principal.org);
    const plain = utf8(canonicalJson(await gather(services.store, unit, backup.org_id)));
    const checksum = base64(services.crypto.hash("sha256", plain));
    const { org_id, created_by, created_at } = backup;
    await writeBackupFile(services, { backup_id: id, org_id, created_by, created_at, size: plain.length, checksum }, plain);
    const completed = stepBackup(backup, { kind: "complete", size: plain.length, checksum }, call.now);
    unit.put(backups, id, completed);
    unit.record({ type: "backup.create", metadata: { backup_id: id, size: plain.length, checksum } });
    return completed;
  });
}

/** The record of a backup that this instance does not know: what its file says. */
function recordOf(head: BackupHead, now: number): Backup {
  const { backup_id: id, org_id: org, created_by: by, size, checksum } = head;
  const started = startBackup({ id, org, by }, Date.parse(head.created_at));
  return stepBackup(started, { kind: "complete", size, checksum }, now);
}

export const backupHandlers: Handlers<Routes, PartnerServices> = {
  async createBackup(services, { principal, body, now, requestId, request }) {
    const call = { principal, now, requestId };
    const id = services.newId(now);
    await services.transact(call, async (unit) => {
      await services.signatures.require(unit, claimOf("backup.create", "", body, request));
      unit.insert(backups, id, startBackup({ id, org: principal.org, by: principal.id }, now));
    });
    try {
      return await complete(services, call, id);
    } catch (error) {
      const code = isCoded(error) ? error.code : "internal_error";
      const kept = await services.transact(call, async (unit) => {
        const backup = await findBackup(unit, id, principal.org);
        // The record may say so although the answer was lost: then the backup is made.
        if (backup.status === "completed") return backup;
        unit.put(backups, id, stepBackup(backup, { kind: "fail", error: code }, now));
        unit.record({ type: "backup.create", result: "error", metadata: { backup_id: id, code } });
        return undefined;
      });
      if (kept !== undefined) return kept;
      if (isCoded(error)) throw error;
      services.log.error({ error, backup: id }, "the backup was not written");
      throw refusal("SERVICE_UNAVAILABLE", "the backup could not be written");
    }
  },

  listBackups: async ({ read }, { principal, query }) =>
    listed("backups", await read.page(backups, "by_org", [principal.org], query)),

  getBackup: ({ read }, { principal, params }) => findBackup(read, params.id, principal.org),

  async restoreBackup(services, { principal, params, body, now, requestId, request }) {
    const known = await services.read.get(backups, params.id);
    const clean = (await services.read.count(organizations, "by_time", [])) === 0;
    if (known !== undefined) requireRestorable(known.org_id, principal.org, clean);
    if (known !== undefined && known.status !== "completed") stepBackup(known, { kind: "restore" }, now);
    const file = await readBackupFile(services, params.id);
    const { head } = file;
    requireRestorable(head.org_id, principal.org, clean);
    const { plain, adoptKeys } = await openBackup(services, file);
    const payload = readPayload(plain, head.org_id);
    plain.fill(0);

    await services.transact({ principal, now, requestId }, async (unit) => {
      if (clean !== ((await unit.count(organizations, "by_time", [])) === 0)) {
        throw lostRace();
      }
      const backup = (await unit.get(backups, params.id)) ?? recordOf(head, now);
      // What was signed is the checksum of what is restored, whatever the record says.
      if (backup.checksum !== head.checksum) throw refusal("CHECKSUM_MISMATCH", "the backup is not what was written");
      unit.put(backups, backup.id, stepBackup(backup, { kind: "restore" }, now));
      const owner = await unit.get(organizations, head.org_id);
      const anchor = owner?.anchor_public_key ?? null;
      const own = await currentCrk(unit, head.org_id);
      const claim = { ...claimOf("backup.restore", backup.id, body, request), org: head.org_id };
      if (own !== undefined) await services.signatures.require(unit, claim);
      else if (anchor !== null && !payload.crk_public_keys.includes(anchor)) {
        throw refusal("SIGNATURE_INVALID", "the backup is not of the root key that is configured");
      }
      await stage(unit, payload);
      // Without a root key of its own the organisation is judged by the one in the sealed payload.
      if (own === undefined) await services.signatures.require(unit, claim);
      const metadata = {
        backup_id: backup.id,
        checksum: head.checksum,
        vault_key: file.keys === undefined ? "present" : "carried",
      };
      unit.record({ type: "backup.restore", org: head.org_id, metadata });
      // Before the documents that only they open; without those they open nothing.
      await adoptKeys(clean);
      unit.invalidate(() => {
        for (const { id } of payload.collections[workspaces.name] ?? []) services.deks.forget(id);
      });
    });
  },
};
