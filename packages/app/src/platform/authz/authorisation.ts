import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { readText } from "@seneschal/adapters/files";
import type { AuthoriseInput } from "@seneschal/contract";
import { CodedError, checkArgument, checkOptions, type JsonObject } from "@seneschal/kernel";
import { type CompiledPolicy, checkDecided, type PolicyEngine } from "@seneschal/kernel/ports";
import type { Heard } from "../decision-log/logged-decision.ts";

/** What an authorisation policy is asked; the input document of `policies/authz/*.rego`. */
export interface AuthorisationQuestion {
  readonly subject: {
    readonly id: string;
    /** `anonymous` for a caller without a credential. */
    readonly type: string;
    readonly org: string;
    readonly roles: readonly string[];
    /** `resource:action`, `resource:*` or `*:*` narrow; other scopes (openid, profile) say nothing to the shipped policies. */
    readonly scopes: readonly string[];
    /** From the caller's custom roles. `*` matches any. */
    readonly permissions: readonly { readonly resource: string; readonly action: string }[];
  };
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string; readonly org: string; readonly workspace: string };
  readonly context: { readonly method: string; readonly path: string };
}

export type AuthorisationDecision = ({ readonly allowed: true } | { readonly allowed: false; readonly reason: string }) & {
  /** What `allow` of the policy was asked, and what it said. */
  readonly heard: Heard;
  /** SHA-256 of the policy, the first twelve hex digits. */
  readonly revision: string;
};

/**
 * Decides who may do what, after authentication. `now` in milliseconds. What fails is a denial; a policy that was not decided, because its budget or its
 * time was over, is none: `decide` throws `service_unavailable`.
 */
export interface Authorisation {
  decide(question: AuthorisationQuestion, now: number): Promise<AuthorisationDecision>;
  /** Compiles another source; what comes back puts it in force. Throws as {@link openAuthorisation}. */
  prepare(source: string | undefined): Promise<() => void>;
}

export interface AuthorisationOptions {
  readonly engine: PolicyEngine;
  /** The policy is `data.<service>.authz`: `allow` decides, `reason` says why not. */
  readonly service: "gateway" | "governance" | "scheduler" | "storage";
  /** Rego source in place of the shipped `policies/authz/<service>.rego`. */
  readonly source: string | undefined;
  /** What the policy reads as `data.settings`. */
  readonly settings?: JsonObject;
}

/**
 * The authorisation policy of a service: the shipped one, or the configured one in its place. Denied by default; a policy that
 * fails or answers anything but `true` denies; one that runs out of its budget decides nothing. Throws `config_invalid` for a policy that does not
 * compile or is of another package.
 *
 * @example
 * ```ts
 * import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
 * import { openAuthorisation, questionOf } from "@seneschal/app/platform";
 * import { schedulerContract } from "@seneschal/contract/scheduler";
 * const authorisation = await openAuthorisation({ engine: embeddedPolicyEngine(), service: "scheduler", source: undefined });
 * const question = questionOf({ route: schedulerContract.createTenant, principal: undefined });
 * console.log((await authorisation.decide(question, Date.now())).allowed); // false
 * ```
 */
export async function openAuthorisation(options: AuthorisationOptions): Promise<Authorisation> {
  checkOptions("options", options, {
    engine: "object",
    service: ["gateway", "governance", "scheduler", "storage"],
    source: "string?",
    settings: "object?",
  });
  const { engine, service, source, settings } = options;
  const compiled = async (own: string | undefined): Promise<{ readonly program: CompiledPolicy; readonly revision: string }> => {
    const name = own === undefined ? `policies/authz/${service}.rego` : `${service}.authorization_policy`;
    const text = own ?? (await readText(fileURLToPath(new URL(`../../../policies/authz/${service}.rego`, import.meta.url))));
    const result = await engine.compile([{ name, source: text }]);
    if (!result.ok) throw new CodedError("config_invalid", `${name} does not compile`, { problems: result.problems });
    if (!result.policy.packages.some((path) => path.join(".") === `${service}.authz`)) {
      throw new CodedError("config_invalid", `${name}: expected package ${service}.authz`);
    }
    return { program: result.policy, revision: createHash("sha256").update(text).digest("hex").slice(0, 12) };
  };
  let policy = await compiled(source);
  const allow = Object.freeze(["data", service, "authz", "allow"]);
  const reason = Object.freeze(["data", service, "authz", "reason"]);
  const data: JsonObject = { settings: settings ?? {} };
  return {
    async prepare(next) {
      const fresh = await compiled(next);
      return () => {
        policy = fresh;
      };
    },
    async decide(question, now) {
      const input = question as unknown as JsonObject;
      const { program, revision } = policy;
      const began = performance.now();
      const answer = await program.evaluate(allow, input, { now, data });
      const milliseconds = Math.round(performance.now() - began);
      checkDecided(answer);
      const asked = { heard: { path: allow, input, answer, milliseconds }, revision };
      if (answer.kind === "defined" && answer.value === true) return { allowed: true, ...asked };
      if (answer.kind === "error") return { allowed: false, reason: `the authorisation policy failed: ${answer.code}`, ...asked };
      const why = await program.evaluate(reason, input, { now, data });
      const hasReason = why.kind === "defined" && typeof why.value === "string" && why.value !== "";
      return {
        allowed: false,
        reason: hasReason ? (why.value as string) : "the authorisation policy does not allow this",
        ...asked,
      };
    },
  };
}

const ANONYMOUS = { id: "", type: "anonymous", org: "", roles: [], scopes: [] } as const;

/** The question about a call. `org`: the organisation it is about where the request names one, else the caller's own. */
export function questionOf(
  input: QuestionInput,
  more: {
    readonly permissions?: AuthorisationQuestion["subject"]["permissions"];
    readonly org?: string;
    readonly workspace?: string;
  } = {},
): AuthorisationQuestion {
  checkArgument("input", input, "object");
  const { route, principal = { ...ANONYMOUS, method: "none" }, params } = input;
  const { id, type, org, roles, scopes } = principal;
  const action = route.action ?? "";
  return {
    subject: { id, type, org, roles, scopes, permissions: more.permissions ?? [] },
    action,
    resource: {
      type: action.split(":", 1)[0] ?? "",
      id: params?.["id"] ?? "",
      org: more.org ?? org,
      workspace: more.workspace ?? "",
    },
    context: { method: route.method, path: route.path },
  };
}

type QuestionInput = Pick<AuthoriseInput, "route" | "principal"> & Partial<Pick<AuthoriseInput, "params">>;
