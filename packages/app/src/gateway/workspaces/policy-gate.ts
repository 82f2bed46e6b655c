import type { Principal } from "@seneschal/contract";
import { type PolicyVerdict, timestamp } from "@seneschal/core/keys";
import type { Json, JsonObject } from "@seneschal/kernel";
import type { Clock, CompiledPolicy, PolicyAnswer, PolicyEngine } from "@seneschal/kernel/ports";
import type { Heard } from "../../platform/index.ts";
import type { Call, DecisionLog, Reader } from "../ground/index.ts";
import { type Policy, policies } from "./collections.ts";

/** What restricts an organisation's identities in a workspace: the workspace's policies and the organisation's own, newest first. */
export async function applicablePolicies(read: Reader, org: string, workspace: string): Promise<readonly Policy[]> {
  const [bound, wide] = await Promise.all([
    read.list(policies, "by_workspace", [workspace]),
    read.list(policies, "org_wide", [org]),
  ]);
  return [...bound, ...wide].toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

/**
 * What a policy's package document says. `allow` (or `allowed`) is a boolean or `{ allow, reason }`; a non-empty `deny` set
 * denies whatever `allow` says. The reason comes from `deny_reason`, `reason` or `deny`. What is undefined, of another
 * type or failed is a denial with its own text.
 */
function verdict(policy: string, answer: PolicyAnswer): PolicyVerdict {
  const denied = (reason: string): PolicyVerdict => ({ policy, allowed: false, reason });
  if (answer.kind === "error") return denied("policy evaluation error");
  if (answer.kind === "undefined") return denied("policy returned undefined");
  if (!isObject(answer.value)) return denied("policy returned a non-boolean");
  const document = answer.value;
  const decision = document["allow"] ?? document["allowed"];
  const texts = denyTexts(document["deny"]);
  const spoken =
    text(document["deny_reason"]) ??
    text(document["reason"]) ??
    (isObject(decision) ? text(decision["reason"]) : undefined) ??
    (texts.length > 0 ? texts.join("; ") : undefined);
  if (texts.length > 0) return denied(spoken ?? `denied by policy ${policy}`);
  const allowed = isObject(decision) ? decision["allow"] : decision;
  if (allowed === undefined) return denied(spoken ?? "policy returned undefined");
  if (typeof allowed !== "boolean") return denied("policy returned a non-boolean");
  return allowed ? { policy, allowed: true, reason: "" } : denied(spoken ?? `denied by policy ${policy}`);
}

function denyTexts(deny: Json | undefined): readonly string[] {
  if (!Array.isArray(deny)) return [];
  return deny.map((entry: Json) => (typeof entry === "string" ? entry : JSON.stringify(entry))).sort();
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
    ask: async (policy, input, { now, owner }) => verdict(policy.name, (await hear(policy, input, now, owner)).answer),
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
      return asked.map(({ policy, heard }) => verdict(policy.name, heard.answer));
    },
  };
}
