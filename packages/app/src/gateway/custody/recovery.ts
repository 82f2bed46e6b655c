import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  initiateRecovery,
  lastMoment,
  notFound,
  type Recovery,
  type RecoveryEffect,
  recoveryStatus,
  refusal,
  stepAdmin,
  stepRecovery,
} from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { base64, bytes, findOwn, type GatewayUnit, type Reader, requireCrk, type StoredCrk, utf8 } from "../ground/index.ts";
import {
  activeHolders,
  admins,
  asKnownNow,
  carryOutAdmin,
  countSuperAdmins,
  findAdmin,
  holderCalling,
  mfaFactors,
  personCalling,
  personNamed,
  requireAnother,
} from "../people/index.ts";
import { recoveries, sharesOfRecovery } from "./collections.ts";
import { holdsOffice } from "./office.ts";
import type { CustodyServices } from "./services.ts";

/** Does what the end of a recovery asks for. Answers the enrolment token where one was issued; it is shown once. */
async function carryOutRecovery(
  services: CustodyServices,
  unit: GatewayUnit,
  recovery: Recovery,
  effects: readonly RecoveryEffect[],
): Promise<string | undefined> {
  let token: string | undefined;
  for (const effect of effects) {
    switch (effect.kind) {
      case "hold_share":
        break;
      case "erase_shares":
        sharesOfRecovery.erase(unit, recovery);
        break;
      case "reset_credentials": {
        const admin = await findAdmin(unit, effect.admin_id, recovery.org_id);
        const supers = await countSuperAdmins(unit, recovery.org_id);
        const reset = stepAdmin(admin, { kind: "reset" }, supers, unit.call.now);
        token = await carryOutAdmin(services, unit, reset.state, reset.effects);
        unit.put(admins, admin.id, reset.state);
        if ((await unit.get(mfaFactors, admin.id)) !== undefined) unit.delete(mfaFactors, admin.id);
        break;
      }
      case "clear_lock": {
        const factor = await unit.get(mfaFactors, effect.admin_id);
        if (factor !== undefined) unit.put(mfaFactors, effect.admin_id, { ...factor, failures: 0, locked_until: null });
        break;
      }
      default:
        effect satisfies never;
    }
  }
  return token;
}

/** Ends a recovery whose time is over; its shares are erased. What is not due stays as it is. */
export async function expireRecovery(services: CustodyServices, unit: GatewayUnit, id: string): Promise<void> {
  const recovery = await unit.get(recoveries, id);
  if (recovery === undefined || recoveryStatus(recovery, unit.call.now) === recovery.status) return;
  const { state, effects } = stepRecovery(recovery, { kind: "expire" }, lastMoment(recovery.expires_at));
  await carryOutRecovery(services, unit, recovery, effects);
  unit.put(recoveries, id, state);
  unit.record({
    type: "recovery.complete",
    org: recovery.org_id,
    result: "error",
    metadata: { recovery_id: id, admin_id: recovery.admin_id, status: state.status },
  });
}

type Routes = Pick<GatewayContract, "initiateRecovery" | "getRecovery" | "submitRecoveryShare" | "completeRecovery">;

const find = (read: Reader, id: string, org: string) => findOwn(read, recoveries, id, org, "recovery");

function view(recovery: Recovery, now: number) {
  const { submitted_indexes, seats = [] } = recovery;
  const status = recoveryStatus(recovery, now);
  return { ...recovery, status, seats: [...seats], shares_collected: submitted_indexes.length };
}

/** A recovery is other people's work, under whatever account they come. */
async function requireNotOneself(unit: GatewayUnit, admin: string, message: string): Promise<void> {
  const { principal } = unit.call;
  requireAnother(await personCalling(unit, principal), [await personNamed(unit, principal.org, admin)], message);
}

/** The key that the recovery was opened under: shares of another epoch prove nothing any more. */
async function keyOf(unit: GatewayUnit, recovery: Recovery): Promise<StoredCrk> {
  const crk = await requireCrk(unit, recovery.org_id);
  if (crk.id !== recovery.crk_id || crk.version !== recovery.crk_epoch) {
    throw refusal("STATE_CONFLICT", "the root key changed since the recovery was opened: open a new one");
  }
  return crk;
}

/** Proves that the quorum is there, by a signature over the recovery that only it can make. */
async function proveQuorum(services: CustodyServices, unit: GatewayUnit, recovery: Recovery): Promise<boolean> {
  const crk = await keyOf(unit, recovery);
  const message = utf8(`seneschal/recovery/v1\0${recovery.id}\0${recovery.admin_id}`);
  try {
    const shares = await sharesOfRecovery.open(services, unit, recovery);
    const proof = await services.threshold.signWithShares(crk.material, shares, message, recovery.org_id);
    return services.crypto.ed25519Verify(bytes(crk.public_key), message, proof);
  } catch (error) {
    if (isCoded(error, "share_invalid") || isCoded(error, "threshold_not_met")) return false;
    throw error;
  }
}

export const recoveryHandlers: Handlers<Routes, CustodyServices> = {
  async initiateRecovery(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const admin = await findAdmin(unit, body.admin_id, principal.org);
      await requireNotOneself(unit, admin.id, "nobody initiates their own recovery");
      const crk = await requireCrk(unit, principal.org);
      if (body.recovery_type === "lost_credentials" && admin.enrollment_status === "disabled") {
        throw refusal("STATE_CONFLICT", "the admin is disabled: enable it instead");
      }
      const [old] = await unit.list(recoveries, "open", [principal.org, admin.id], { limit: 1 });
      if (old !== undefined) await expireRecovery(services, unit, old.id);
      const recovery = initiateRecovery(
        {
          id: services.newId(now),
          org: principal.org,
          ...body,
          crk_id: crk.id,
          crk_epoch: crk.version,
          shares_needed: crk.threshold,
          by: principal.id,
          holders: crk.custodians ?? [],
        },
        now,
        services.config.lifetimes.recovery,
      );
      unit.insert(recoveries, recovery.id, recovery);
      unit.record({
        type: "recovery.initiate",
        purpose: body.reason,
        metadata: { recovery_id: recovery.id, admin_id: admin.id, recovery_type: body.recovery_type },
      });
      return view(recovery, now);
    });
  },

  async getRecovery({ read }, { principal, params, now }) {
    const recovery = await find(read, params.id, principal.org);
    // For those who may bring a share, and for who administers; to others it does not exist.
    const office = holdsOffice(principal);
    if (!office && (await holderCalling(read, principal)) === undefined) throw notFound("recovery");
    return view(recovery, now);
  },

  async submitRecoveryShare(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const recovery = await find(unit, params.id, principal.org);
      await requireNotOneself(unit, recovery.admin_id, "nobody submits shares for their own recovery");
      const seats = await asKnownNow(unit, principal.org, recovery.seats ?? []);
      const holder = await holderCalling(unit, principal);
      const { state } = stepRecovery({ ...recovery, seats }, { kind: "share", index: body.index, holder }, now);
      const crk = await keyOf(unit, recovery);
      const share = { index: body.index, data: base64(bytes(body.data)) };
      const problems = await services.threshold.inspectShares(crk.material, [share], principal.org);
      if (problems.length > 0) {
        throw refusal("SHARE_INVALID", `share ${body.index} is not valid`, { indexes: [body.index], problems });
      }
      await sharesOfRecovery.hold(services, unit, recovery, share);
      unit.put(recoveries, recovery.id, state);
      unit.record({ type: "recovery.share", metadata: { recovery_id: recovery.id, index: body.index } });
      return view(state, now);
    });
  },

  async completeRecovery(services, { principal, params, now, requestId }) {
    const outcome = await services.transact({ principal, now, requestId }, async (unit) => {
      const recovery = await find(unit, params.id, principal.org);
      await requireNotOneself(unit, recovery.admin_id, "nobody completes their own recovery");
      const active = await activeHolders(unit, principal.org, recovery.seats ?? []);
      const completed = stepRecovery(recovery, { kind: "complete", active }, now);
      const proven = await proveQuorum(services, unit, recovery);
      const { state, effects } = proven ? completed : stepRecovery(recovery, { kind: "fail" }, now);
      const token = await carryOutRecovery(services, unit, recovery, effects);
      unit.put(recoveries, recovery.id, state);
      unit.record({
        type: "recovery.complete",
        result: proven ? "success" : "error",
        metadata: {
          recovery_id: recovery.id,
          admin_id: recovery.admin_id,
          recovery_type: recovery.recovery_type,
          status: state.status,
          indexes: recovery.submitted_indexes,
        },
      });
      return { state, token };
    });
    // Thrown behind the commit: a recovery that failed stays failed, and its shares are erased.
    if (outcome.state.status === "failed") {
      throw refusal("SHARE_INVALID", "the shares do not add up to the root key", { indexes: outcome.state.submitted_indexes });
    }
    return { ...view(outcome.state, now), ...(outcome.token === undefined ? {} : { enrollment_token: outcome.token }) };
  },
};
