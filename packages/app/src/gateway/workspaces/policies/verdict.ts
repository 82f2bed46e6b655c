import type { PolicyVerdict } from "@seneschal/core/keys";
import type { Json, JsonObject } from "@seneschal/kernel";
import type { PolicyAnswer } from "@seneschal/kernel/ports";

/**
 * What a policy's package document says. `allow` (or `allowed`) is a boolean or `{ allow, reason }`; a non-empty `deny` set
 * denies whatever `allow` says. The reason comes from `deny_reason`, `reason` or `deny`. What is undefined, of another
 * type or failed is a denial with its own text.
 */
export function verdict(policy: string, answer: PolicyAnswer): PolicyVerdict {
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
