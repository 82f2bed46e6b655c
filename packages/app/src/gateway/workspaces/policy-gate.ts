import type { Principal } from "@seneschal/contract";
import { type Policy, type PolicyVerdict, policyVerdict, timestamp } from "@seneschal/core/keys";
import type { JsonObject } from "@seneschal/kernel";
import type { Clock, CompiledPolicy, PolicyAnswer, PolicyEngine } from "@seneschal/kernel/ports";
import type { Heard } from "../../platform/index.ts";
import type { Call, DecisionLog, Reader } from "../ground/index.ts";
import { policies } from "./collections.ts";

/** What restricts an organisation's identities in a workspace: the workspace's policies and the organisation's own, newest first. */
export async function applicablePolicies(read: Reader, org: string, workspace: string): Promise<readonly Policy[]> {
  const [bound, wide] = await Promise.all([
    read.list(policies, "by_workspace", [workspace]),
    read.list(policies, "org_wide", [org]),
  ]);
  return [...bound, ...wide].toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

/** Whom policies are asked about: the caller, or who is let in by it. */
export type PolicyActor = Pick<Principal, "id" | "type" | "roles">;

/** What policies are asked. */
interface PolicyQuestion {
  readonly call: Call;
  readonly actor: PolicyActor;
  readonly operation: string;
  readonly workspace: string;
  readonly purpose: string;
  readonly metadata: JsonObject;
}

/** A policy, and what tells it from an earlier text of its own: an owner elsewhere numbers its versions itself. */
type PolicyText = Pick<Policy, "id" | "workspace_id" | "name" | "version" | "rego" | "updated_at">;

/** Asks every policy that applies. All must allow; they can only restrict. */
export interface PolicyGate {
  verdicts(read: Reader, question: PolicyQuestion): Promise<readonly PolicyVerdict[]>;
  /** One policy's answer. Never throws for what the policy does; `service_unavailable` when `owner`, who asks, has too much under way. */
  ask(policy: PolicyText, input: JsonObject, asked: { readonly now: number; readonly owner: string }): Promise<PolicyVerdict>;
}

const CACHE = 500;

/** The gate over an engine. What policies say about requests goes into the decision log, `evaluatePolicy` of a made-up one does not. */
export function policyGate(engine: PolicyEngine, decisions: Pick<DecisionLog, "note">, clock: Clock): PolicyGate {
  const compiled = new Map<string, Promise<CompiledPolicy | undefined>>();

  const compile = (policy: PolicyText, owner: string): Promise<CompiledPolicy | undefined> => {
    const key = `${policy.id} ${policy.version} ${policy.updated_at} ${policy.workspace_id}`;
    const known = compiled.get(key);
    if (known !== undefined) return known;
    const fresh = (async () => {
      const result = await engine.compile([{ name: policy.name, source: policy.rego }], { owner });
      if (result.ok) return result.policy;
      // A busy machine may be the cause of a limit: the next one tries again.
      if (result.problems.some(({ code }) => code === "rego_limit_error")) compiled.delete(key);
      return undefined;
    })();
    compiled.set(key, fresh);
    fresh.catch(() => compiled.delete(key));
    const oldest = compiled.keys().next();
    if (compiled.size > CACHE && oldest.done !== true) compiled.delete(oldest.value);
    return fresh;
  };

  const hear = async (policy: PolicyText, input: JsonObject, now: number, owner: string): Promise<Heard> => {
    const began = clock.now();
    const program = await compile(policy, owner);
    const path = ["data", ...(program?.packages[0] ?? [])];
    const failed: PolicyAnswer = { kind: "error", code: "rego_compile_error", message: "" };
    const answer = program === undefined || path.length === 1 ? failed : await program.evaluate(path, input, { now, owner });
    return { path, input, answer, milliseconds: clock.now() - began };
  };

  return {
    ask: async (policy, input, { now, owner }) => policyVerdict(policy.name, (await hear(policy, input, now, owner)).answer),
    async verdicts(read, { call, actor, operation, workspace, purpose, metadata }) {
      const { principal, now } = call;
      const applicable = await applicablePolicies(read, principal.org, workspace);
      const input: JsonObject = {
        actor: actor.id,
        role: actor.roles[0] ?? actor.type,
        operation,
        workspace,
        purpose,
        metadata,
        org_id: principal.org,
        time: timestamp(now),
      };
      const asked = await Promise.all(
        applicable.map(async (policy) => ({ policy, heard: await hear(policy, input, now, principal.org) })),
      );
      await decisions.note(
        call,
        asked.map(({ policy, heard }) => ({ heard, bundles: { [policy.id]: { revision: `${policy.version}` } } })),
      );
      return asked.map(({ policy, heard }) => policyVerdict(policy.name, heard.answer));
    },
  };
}
