import type { Principal } from "@seneschal/contract";
import type { PolicyEngine, Put } from "@seneschal/kernel/ports";
import {
  compileLogPolicy,
  type Decision,
  type DecisionLogParts,
  decisionDocuments,
  LARGEST_DECISION,
  loggedDecision,
} from "../../../platform/index.ts";
import type { Call } from "../call.ts";
import type { AuditEvent } from "./event.ts";

/** Characters that the decisions of one request may have together; those beyond are told without input and result. */
const OF_A_REQUEST = 4 * 1024 * 1024;

/**
 * What policies decided about requests, for the sinks that tell decisions. A decision is noted, masked, when it is made, and written with the next audit
 * event of its request; one of a request that records nothing is not told.
 */
export interface DecisionLog {
  /** Notes decisions about a request of this very caller. Does nothing while no sink tells decisions. */
  note(call: Pick<Call, "principal" | "now">, decisions: readonly Pick<Decision, "heard" | "bundles">[]): Promise<void>;
  /** What a commit with this event puts, and what is to be done once it stands. Undefined: nothing is noted, or it stands in another's log. */
  take(call: Call, event: AuditEvent): { readonly puts: readonly Put[]; taken(): void } | undefined;
  /** Reads another mask; what comes back puts it in force. Throws `config_invalid` for one that is none. */
  prepare(file: string | undefined): Promise<() => void>;
}

interface DecisionLogOptions extends Omit<DecisionLogParts, "policy"> {
  readonly engine: PolicyEngine;
  /** Rego file of `package system.log`; undefined: nothing is masked. */
  readonly file: string | undefined;
  /** Undefined while no sink tells decisions. */
  readonly told: () => number | undefined;
  readonly newId: (now: number) => string;
}

/** Opens the decision log of a gateway. Throws `config_invalid` for a mask that does not compile or says nothing of the log. */
export async function openDecisionLog(options: DecisionLogOptions): Promise<DecisionLog> {
  const { engine, file, told, newId, ...parts } = options;
  const policyOf = async (name: string | undefined) => (name === undefined ? undefined : compileLogPolicy(engine, name));
  const noted = new WeakMap<Principal, Map<string, string>>();
  let policy = await policyOf(file);
  return {
    async prepare(next) {
      const fresh = await policyOf(next);
      return () => {
        policy = fresh;
      };
    },
    async note({ principal, now }, decisions) {
      if (told() === undefined) return;
      const of = { requestedBy: principal.id, now, owner: principal.org };
      for (const decision of decisions) {
        const texts = noted.get(principal) ?? new Map<string, string>();
        noted.set(principal, texts);
        // Work that lost a race is done again: of one question the last answer holds.
        const question = JSON.stringify([decision.heard.path, Object.keys(decision.bundles), decision.heard.input]);
        texts.delete(question);
        const left = OF_A_REQUEST - [...texts.values()].reduce((sum, { length }) => sum + length, 0);
        const text = await loggedDecision(
          { ...parts, policy },
          { id: newId(now), ...of, ...decision },
          Math.min(LARGEST_DECISION, left),
        );
        if (text !== undefined) texts.set(question, text);
      }
    },
    take({ principal, now }, { id, org_id, result }) {
      const texts = [...(noted.get(principal) ?? [])];
      // INVARIANT: what is asked about one organisation is told in no other's log; a partner and a refusal stand where their record does.
      const own = org_id === principal.org || principal.type === "partner" || result === "denied";
      if (texts.length === 0 || !own) return undefined;
      return {
        puts: decisionDocuments(
          id,
          now,
          texts.map(([, text]) => text),
        ),
        taken() {
          for (const [question] of texts) noted.get(principal)?.delete(question);
        },
      };
    },
  };
}
