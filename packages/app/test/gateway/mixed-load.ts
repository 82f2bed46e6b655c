/** A gateway on disk under mixed load, all of it over HTTPS: prints each acknowledged change as a line until it is killed. */
import { join } from "node:path";
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault } from "@seneschal/adapters/vault";
import { openLevelRigStore } from "./level-store.ts";
import { type Answer, type Caller, openRig } from "./rig.ts";
import { rootKey } from "./root-key.ts";

/** What was acknowledged. */
export type Acknowledged =
  | { readonly kind: "opened"; readonly flaw: string | null }
  | { readonly kind: "workspace"; readonly id: string; readonly version: number }
  | { readonly kind: "ciphertext"; readonly id: string; readonly ciphertext: string }
  | { readonly kind: "member"; readonly group: string; readonly identity: string }
  | { readonly kind: "emergency"; readonly id: string; readonly approvals: number }
  | { readonly kind: "message"; readonly id: string }
  | { readonly kind: "admin"; readonly id: string; readonly status: string }
  | { readonly kind: "ceremony"; readonly id: string; readonly shares: number; readonly status: string }
  | { readonly kind: "prepared"; readonly backup: string; readonly groups: readonly string[] }
  | { readonly kind: "restored"; readonly backup: string };

const say = (line: Acknowledged): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);
const must = ({ status, body, text }: Answer): Answer["body"] => {
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
};
const forever = async (work: (i: number) => Promise<void>): Promise<never> => {
  for (let i = 0; ; i++) await work(i);
};

const [path = "", round = ""] = process.argv.slice(2);
// Loaded while the one before still runs; it starts when it is told.
await new Promise((resolve) => process.stdin.once("data", resolve));
const store = await openLevelRigStore(join(path, "store"));
const unseal = { kind: "key", key: new Uint8Array(32).fill(5) } as const;
const clock = settableClock(Date.now());
const vault = await openEmbeddedVault({ store, crypto: nodeCrypto, random: systemRandom, clock, unseal });
const [org, safe] = [`load-${round}`, `safe-${round}`];
const rig = await openRig({
  store,
  vault,
  organizations: [org, safe],
  settings: { backup: { location: join(path, "backups") } },
});
await rig.gateway.start?.();
say({ kind: "opened", flaw: (await rig.gateway.services.audit.verifyAll())?.flaw ?? null });

const root = rig.admin(org);
const second = rig.admin(org, "security_admin");
const reader = rig.dev.organizations[org]?.admins.auditor.id;

async function keys(i: number): Promise<void> {
  const { id } = must(await root("POST", "/api/v1/workspaces", { name: `w ${i}` }));
  say({ kind: "workspace", id, version: 1 });
  const { ciphertext } = must(await root("POST", `/api/v1/workspaces/${id}/encrypt`, { plaintext: "AAAA" }));
  say({ kind: "ciphertext", id, ciphertext });
  must(await root("POST", `/api/v1/workspaces/${id}/rotate-dek`));
  say({ kind: "workspace", id, version: 2 });
}

async function people(i: number): Promise<void> {
  const email = `a${i}@load.example`;
  const { id } = must(await root("POST", "/api/v1/identities/admins", { email, name: "A", role: "auditor" }));
  say({ kind: "admin", id, status: "pending" });
  const { id: group } = must(await root("POST", "/api/v1/identities/groups", { name: `g ${i}` }));
  must(await root("POST", `/api/v1/identities/groups/${group}/members`, { identity_id: id, identity_type: "admin" }));
  say({ kind: "member", group, identity: id });
  must(await root("PUT", `/api/v1/identities/admins/${id}`, { active: false }));
  say({ kind: "admin", id, status: "disabled" });
}

async function emergencies(i: number): Promise<void> {
  const base = "/api/v1/emergency-access";
  const { id } = must(await rig.bearer({ sub: `needy-${i}`, org })("POST", `${base}/request`, { reason: "fire" }));
  for (const [approvals, by] of [root, second].entries()) {
    must(await by("POST", `${base}/${id}/approve`));
    say({ kind: "emergency", id, approvals: approvals + 1 });
  }
}

async function letters(i: number): Promise<void> {
  const letter = { recipient_org_id: org, recipient_id: reader, subject: `s ${i}`, body: "AAAA" };
  say({ kind: "message", id: must(await second("POST", "/api/v1/messages", letter)).id });
}

/** A ceremony from start to end, then a backup, a change of everything in it, and the way back. */
async function custody(admin: Caller): Promise<never> {
  const key = await rootKey(admin);
  const witness = rig.dev.organizations[safe]?.admins.auditor.id;
  return forever(async (i) => {
    const { id } = must(await admin("POST", "/api/v1/crk/ceremony/start", { operation: "reconstruct", threshold: 2 }));
    const ceremony = `/api/v1/crk/ceremony/${id}`;
    say({ kind: "ceremony", id, shares: 0, status: "pending" });
    for (const [at, share] of key.shares.slice(0, 2).entries()) {
      const custodian = at === 0 ? admin : rig.admin(safe, "security_admin");
      must(await custodian("POST", `${ceremony}/share`, share));
      say({ kind: "ceremony", id, shares: at + 1, status: "pending" });
    }
    must(await admin("POST", `${ceremony}/complete`, { witness }));
    say({ kind: "ceremony", id, shares: 2, status: "completed" });

    const groups: string[] = [];
    for (const n of [1, 2, 3]) {
      groups.push(must(await admin("POST", "/api/v1/identities/groups", { name: `g ${i} ${n}`, description: "before" })).id);
    }
    const type = { type: "full" };
    const made = await admin("POST", "/api/v1/backups", { ...type, crk_signature: await key.sign("backup.create", "", type) });
    const backup: string = must(made).id;
    for (const group of groups) must(await admin("PUT", `/api/v1/identities/groups/${group}`, { description: "after" }));
    say({ kind: "prepared", backup, groups });
    const crk_signature = await key.sign("backup.restore", backup, {});
    must(await admin("POST", `/api/v1/backups/${backup}/restore`, { crk_signature }));
    say({ kind: "restored", backup });
  });
}

await Promise.all([forever(keys), forever(people), forever(emergencies), forever(letters), custody(rig.admin(safe))]);
