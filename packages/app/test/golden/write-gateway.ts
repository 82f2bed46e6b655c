import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault } from "@seneschal/adapters/vault";
import type { Contract } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { type Entities, entitiesOf, entityOf } from "../gateway/entities.ts";
import { federate, openSide, type Side } from "../gateway/federated.ts";
import { openLevelRigStore } from "../gateway/level-store.ts";
import { registered } from "../gateway/registered.ts";
import { acceptGap, makeTheRest, must, writeFirstAdmin } from "./gateway-kinds.ts";

/** Somebody who asks, by what their token says. */
interface TokenOf {
  readonly sub: string;
  readonly org: string;
  readonly roles?: readonly string[];
}

/** What is known of a directory: `gateway.json` beside the store that a release wrote. */
export interface GatewayFacts {
  /** When it was written. */
  readonly at: number;
  readonly unseal_key: string;
  readonly callers: Readonly<Record<string, TokenOf>>;
  /** Every request without effect that the release answered with 200, and the things that its answer named. */
  readonly asked: readonly {
    readonly id: string;
    readonly caller: string;
    readonly path: string;
    readonly names: readonly string[];
  }[];
  readonly workspace: string;
  readonly ciphertext: string;
  /** Begun, with one share of two. */
  readonly ceremony: string;
  readonly recovery: string;
  readonly shares: readonly { readonly index: number; readonly data: string }[];
  readonly public_key: string;
}

type Params = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What people and organisations do together: a workspace of each with the other in it, a request to join, a seeded generation, a report. */
async function beginWhatSeveralDo(acme: Side, globex: Side, params: Params, all: Entities): Promise<void> {
  const theirs = (await must(globex.call("POST", "/api/v1/workspaces", { name: "of globex" }))).body.id;
  for (const [owner, guest, id] of [
    [acme, globex, params["workspace"]?.["id"]],
    [globex, acme, theirs],
  ] as const) {
    await must(owner.call("POST", `/api/v1/workspaces/${id}/invite`, { org_id: guest.org }));
    await owner.rig.gateway.deliver(owner.rig.clock.now() + 3_600_000);
    await must(guest.call("POST", `/api/v1/workspaces/${id}/accept-invitation`, {}));
  }
  const group = await all.create("identities/groups", { name: all.name() }, acme.call);
  const joiner = acme.rig.bearer({ sub: "joiner", org: "acme" });
  await must(joiner("POST", `/api/v1/identities/groups/${group}/join-requests`, { reason: "please" }));
  const founder = acme.rig.bearer({ sub: "founder", org: "founded", roles: ["super_admin"] });
  const begun = await must(founder("POST", "/api/v1/crk/generate-ceremony/start", { total_shares: 2, threshold: 2 }));
  const custodian = await registered(acme.rig, founder, { org: "founded", sub: "custodian" });
  const seed = await all.bodies["seedGenerationCeremony"]?.({});
  await must(custodian.call("POST", `/api/v1/crk/generate-ceremony/${begun.body.id}/seed`, seed));
  await must(acme.rig.admin("acme", "auditor")("POST", "/api/v1/compliance/reports/summary", {}));
}

/** One of every kind of entity, and all else that is made beside a partner: the parameters of the paths by kind. */
async function makeAll(acme: Side, all: Entities, scratch: string): Promise<Params> {
  const globex = await openSide("globex");
  try {
    await federate(acme, globex);
    const params: Record<string, Readonly<Record<string, string>>> = {};
    for (const [kind, make] of Object.entries(all.makers)) {
      all.begin();
      params[kind] = await make();
    }
    await beginWhatSeveralDo(acme, globex, params, all);
    await makeTheRest({ acme, globex, all }, { shared: params["workspace"]?.["id"] ?? "", scratch });
    return params;
  } finally {
    await globex.rig.close();
  }
}

/** Writes what a gateway keeps of every kind of entity, and what is known of it: `gateway` and `gateway.json`. */
export async function writeGateway(directory: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "golden-"));
  const path = join(directory, "gateway");
  const unsealKey = systemRandom(32);
  const vaultOf = (store: DocumentStore) =>
    openEmbeddedVault({
      store,
      crypto: nodeCrypto,
      random: systemRandom,
      clock: settableClock(Date.now()),
      unseal: { kind: "key", key: unsealKey },
    });
  const lost = await writeFirstAdmin(path, join(scratch, "whole"), vaultOf);
  const store = await openLevelRigStore(path);
  const vault = await vaultOf(store);
  const acme = await openSide("acme", { kept: { store, vault, decisionsTold: () => 0 }, backups: join(scratch, "backups") });
  try {
    await acceptGap(acme.rig, lost);
    const all = entitiesOf(acme);
    const { rig, key } = acme;
    const admin = rig.dev.organizations["acme"]?.admins.super_admin.id ?? "";
    const callers: Record<string, TokenOf> = {
      admin: { sub: admin, org: "acme", roles: ["super_admin"] },
      user: { sub: "pat", org: "acme" },
    };

    const params = await makeAll(acme, all, scratch);
    // The partner is away: what is said of it waits.
    await must(acme.call("PUT", `/api/v1/workspaces/${params["workspace"]?.["id"]}`, { purpose: "changed since" }));
    await rig.gateway.deliver(rig.clock.now());
    const workspace = await all.create("workspaces", { name: all.name() }, acme.call);
    const sealed = await acme.call("POST", `/api/v1/workspaces/${workspace}/encrypt`, {
      plaintext: Buffer.from("secret").toString("base64"),
      context: { a: "b" },
    });
    const ceremony = await all.create("crk/ceremony/start", { operation: "sign", threshold: 2, data: "AAAA" }, acme.call);
    await must(acme.call("POST", `/api/v1/crk/ceremony/${ceremony}/share`, key.shares[0]));
    const recovery = params["recovery"]?.["id"] ?? "";
    await must(acme.call("POST", `/api/v1/account-recovery/${recovery}/share`, key.shares[0]));

    const named = Object.values(params).flatMap((of) => Object.values(of));
    const asked: GatewayFacts["asked"][number][] = [];
    for (const [id, { method, path, action, produces }] of Object.entries(gatewayContract as Contract)) {
      if (method !== "GET" || action === "federation:peer" || produces === "text/event-stream") continue;
      const own: Readonly<Record<string, string | undefined>> = {
        index: "1",
        id: "acme",
        workspace_id: params["workspace"]?.["id"],
        ...params[entityOf(path) ?? ""],
      };
      const at = path.replace(/:([a-z_]+)/g, (_, name: string) => own[name] ?? "none");
      for (const [caller, claims] of Object.entries(callers)) {
        const { status, text } = await rig.bearer(claims)("GET", at);
        if (status === 200) asked.push({ id, caller, path: at, names: named.filter((name) => text.includes(name)) });
      }
    }
    const facts: GatewayFacts = {
      at: rig.clock.now(),
      unseal_key: Buffer.from(unsealKey).toString("base64"),
      callers,
      workspace,
      ciphertext: sealed.body.ciphertext,
      ceremony,
      recovery,
      shares: key.shares,
      public_key: key.publicKey,
      asked,
    };
    writeFileSync(join(directory, "gateway.json"), JSON.stringify(facts));
  } finally {
    await acme.rig.close();
    await store.close();
    rmSync(scratch, { recursive: true });
  }
}
