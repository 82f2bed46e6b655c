import { checkArgument, type Json, type JsonObject } from "@seneschal/kernel";
import type { PolicyAnswer } from "@seneschal/kernel/ports";
import { type KeysError, refusal } from "./codes.ts";
import { limits } from "./lifetimes.ts";
import { type Timestamp, timestamp } from "./time.ts";

/** Rego source of an organisation, for one workspace or (`workspace_id` null) for all of its own. */
export interface Policy {
  readonly id: string;
  readonly org_id: string;
  readonly workspace_id: string | null;
  readonly name: string;
  readonly rego: string;
  readonly version: number;
  readonly created_by: string;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/**
 * The first version of a policy.
 *
 * @example
 * ```ts
 * import { createPolicy } from "@seneschal/core/keys";
 * console.log(createPolicy({ id: "p1", org_id: "acme", workspace_id: null, name: "hours", rego: "package p", created_by: "ada" }, 0).version); // 1
 * ```
 */
export function createPolicy(
  given: Pick<Policy, "id" | "org_id" | "workspace_id" | "name" | "rego" | "created_by">,
  now: number,
): Policy {
  checkArgument("given", given, "object");
  checkArgument("now", now, "number");
  const { id, org_id, workspace_id, name, rego, created_by } = given;
  const at = timestamp(now);
  return { id, org_id, workspace_id, name, rego, version: 1, created_by, created_at: at, updated_at: at };
}

/**
 * Another text under the next number: a number stands for one text.
 *
 * @example
 * ```ts
 * import { createPolicy, revisePolicy } from "@seneschal/core/keys";
 * const policy = createPolicy({ id: "p1", org_id: "acme", workspace_id: null, name: "hours", rego: "package p", created_by: "ada" }, 0);
 * console.log(revisePolicy(policy, "package q", 1).version); // 2
 * ```
 */
export function revisePolicy(policy: Policy, rego: string, now: number): Policy {
  checkArgument("policy", policy, "object");
  checkArgument("rego", rego, "string");
  checkArgument("now", now, "number");
  return { ...policy, rego, version: policy.version + 1, updated_at: timestamp(now) };
}

/**
 * Throws `CONFLICT` when a workspace would have more policies, or more text in them, than travels to its participants' instances. `bytes`: of each
 * text as JSON.
 *
 * @example
 * ```ts
 * import { requirePolicyRoom } from "@seneschal/core/keys";
 * requirePolicyRoom([1000, 2000]);
 * try {
 *   requirePolicyRoom([1e9]);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // CONFLICT
 * }
 * ```
 */
export function requirePolicyRoom(bytes: readonly number[]): void {
  checkArgument("bytes", bytes, "array");
  const { count, bytes: most } = limits.policies;
  if (bytes.length <= count && bytes.reduce((sum, size) => sum + size, 0) <= most) return;
  throw refusal("CONFLICT", `a workspace has at most ${count} policies of ${most} bytes together`, { count, bytes: most });
}

/**
 * Throws `POLICY_INVALID` for a package that is the gateway's own, or another workspace's. `path` without `data`.
 *
 * @example
 * ```ts
 * import { requireOwnPackage } from "@seneschal/core/keys";
 * requireOwnPackage(["export"], "w1");
 * requireOwnPackage(["gateway", "workspace", "w1"], "w1"); // its own
 * ```
 */
export function requireOwnPackage(path: readonly string[], workspace: string | null): void {
  checkArgument("path", path, "array");
  const refuse = (reason: string) =>
    refusal("POLICY_INVALID", `package ${path.join(".")} ${reason}`, { field: "rego", errors: [] });
  const [root, part, name] = path;
  if (root === "system" || (root === "gateway" && part === "authz")) throw refuse("is reserved");
  if (root === "gateway" && part === "workspace" && (name !== workspace || path.length > 3))
    throw refuse("is not that of the policy's workspace");
}

/** What a policy said about an operation. An engine failure arrives as a denial. */
export interface PolicyVerdict {
  readonly policy: string;
  readonly allowed: boolean;
  readonly reason: string;
}

/**
 * What a policy's package document says. `allow` (or `allowed`) is a boolean or `{ allow, reason }`; a non-empty `deny` set
 * denies whatever `allow` says. The reason comes from `deny_reason`, `reason` or `deny`. What is undefined, of another
 * type or failed is a denial with its own text.
 *
 * @example
 * ```ts
 * import { policyVerdict } from "@seneschal/core/keys";
 * const answer = { kind: "defined", value: { allow: true, deny: ["not on Sundays"] } } as const;
 * console.log(policyVerdict("hours", answer)); // { policy: 'hours', allowed: false, reason: 'not on Sundays' }
 * ```
 */
export function policyVerdict(policy: string, answer: PolicyAnswer): PolicyVerdict {
  checkArgument("policy", policy, "string");
  checkArgument("answer", answer, "object");
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

/**
 * What policies say together to somebody who tries them: all must allow, and without any nothing says yes. A denial always carries a reason.
 *
 * @example
 * ```ts
 * import { combineVerdicts } from "@seneschal/core/keys";
 * const denied = { policy: "hours", allowed: false, reason: "outside of office hours" };
 * console.log(combineVerdicts([{ policy: "eu", allowed: true, reason: "" }, denied])); // { allowed: false, deny_reason: 'outside of office hours' }
 * ```
 */
export function combineVerdicts(verdicts: readonly PolicyVerdict[]): { readonly allowed: boolean; readonly deny_reason: string } {
  checkArgument("verdicts", verdicts, "array");
  if (verdicts.length === 0) return { allowed: false, deny_reason: "no policy applies" };
  const denials = verdicts.filter(({ allowed }) => !allowed);
  return { allowed: denials.length === 0, deny_reason: denials.map(({ reason }) => reason).join("; ") };
}

/**
 * The refusal of the first policy that denies; `undefined` when none does. Policies can only restrict: without any there is no refusal.
 *
 * @example
 * ```ts
 * import { policyRefusal } from "@seneschal/core/keys";
 * const denied = { policy: "hours", allowed: false, reason: "outside of office hours" };
 * console.log(policyRefusal([denied])?.code, policyRefusal([])); // POLICY_VIOLATION undefined
 * ```
 */
export function policyRefusal(verdicts: readonly PolicyVerdict[]): KeysError | undefined {
  checkArgument("verdicts", verdicts, "array");
  const denial = verdicts.find(({ allowed }) => !allowed);
  return denial && deniedByPolicy(denial.reason);
}

/**
 * What a caller is told of a denial.
 *
 * @example
 * ```ts
 * import { deniedByPolicy } from "@seneschal/core/keys";
 * console.log(deniedByPolicy("outside of office hours").code); // POLICY_VIOLATION
 * ```
 */
export function deniedByPolicy(reason: string): KeysError {
  checkArgument("reason", reason, "string");
  return refusal("POLICY_VIOLATION", `denied by policy: ${reason}`, { deny_reason: reason });
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
