import { type PolicyVerdict, timestamp } from "@seneschal/core/keys";
import type { JsonObject } from "@seneschal/kernel";
import type { CompiledPolicy, PolicyEngine } from "@seneschal/kernel/ports";
import type { Call, Reader } from "../../ground/index.ts";
import { applicablePolicies } from "./applicable.ts";
import type { Policy } from "./collections.ts";
import { verdict } from "./verdict.ts";

/** What policies are asked. */
interface PolicyQuestion {
  readonly call: Call;
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

/** The gate over an engine. */
export function policyGate(engine: PolicyEngine): PolicyGate {
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

  const ask: PolicyGate["ask"] = async (policy, input, { now, owner }) => {
    const program = await compile(policy, owner);
    const path = program?.packages[0];
    if (program === undefined || path === undefined) {
      return { policy: policy.name, allowed: false, reason: "policy evaluation error" };
    }
    return verdict(policy.name, await program.evaluate(["data", ...path], input, { now, owner }));
  };

  return {
    ask,
    async verdicts(read, { call, operation, workspace, purpose, metadata }) {
      const { principal, now } = call;
      const applicable = await applicablePolicies(read, principal.org, workspace);
      const input: JsonObject = {
        actor: principal.id,
        role: principal.roles[0] ?? principal.type,
        operation,
        workspace,
        purpose,
        metadata,
        org_id: principal.org,
        time: timestamp(now),
      };
      return Promise.all(applicable.map((policy) => ask(policy, input, { now, owner: principal.org })));
    },
  };
}
