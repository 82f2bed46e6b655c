import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import { conditionSql, governanceError } from "@seneschal/governance";
import { isCoded, type Json } from "@seneschal/kernel";
import { checkDecided, type FilterAnswer, type PolicyAnswer } from "@seneschal/kernel/ports";
import { auditOf } from "../audit/event.ts";
import { decisionPuts } from "../decision-log.ts";
import type { GovernanceServices } from "../services.ts";
import { whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "filterRows">;

/** What the log keeps of a decision is no rule of data. */
const NO_FILTERS = "system";

export const filterHandlers: Handlers<Routes, GovernanceServices> = {
  async filterRows(services, input) {
    const { store, policy, policyRevision, clock } = services;
    const { query, rows, user_context, dialect, columns, input: more } = input.body;
    const invalid = (field: string, message: string, details: object = {}) =>
      governanceError("validation_failed", `${field}: ${message}`, { field, ...details });
    if ((dialect === undefined) !== (columns === undefined)) throw invalid("columns", "dialect and columns go together");
    const path = query.split(".");
    if (path[1] === NO_FILTERS) throw invalid("query", "no document that says which rows are shown");
    // INVARIANT: what the policy reads of the person is what the log says of them.
    const known = ["user", ...rows.map((row) => row.split(".")[1] ?? "")].find((name) => Object.hasOwn(more, name));
    if (known !== undefined) throw invalid(`input.${known}`, "it is the person's, or stands for rows");
    if (rows.some((row) => row === "input.user" || row.startsWith("input.user.")))
      throw invalid("rows", "input.user is the person's");
    if (rows.some((row, i) => rows.some((other, j) => i !== j && `${other}.`.startsWith(`${row}.`))))
      throw invalid("rows", "one stands within another");
    if (policy.filter === undefined) throw invalid("query", "the policy engine evaluates for one row at a time alone");
    const asked: Json = { ...(more as Record<string, Json>), user: { ...user_context } };
    const began = clock.now();
    const answer = await policy.filter(path, rows, asked, { now: input.now });
    const milliseconds = clock.now() - began;
    const id = randomUUID();
    const who = whoOf(input, user_context.user_id);
    const record = async (allowed: boolean, reasoning: string) =>
      store.commit({
        commitId: randomUUID(),
        puts: await decisionPuts(services, who, id, { path, input: asked, answer: told(answer), milliseconds }),
        audit: [auditOf(who, { id, operation: "FILTER", resource: query, allowed, reasoning, policyRevision })],
      });
    if (answer.kind === "error") {
      checkDecided(answer);
      await record(false, `the policy could not be evaluated: ${answer.code}`);
      throw governanceError("policy_evaluation_failed", "the policy could not be evaluated", { decision_id: id });
    }
    if (answer.kind === "refused") {
      await record(false, `no condition says it: ${answer.code}`);
      const { code: reason, file, row, col } = answer;
      throw invalid("query", answer.message, { reason, place: `${basename(file)}:${row}:${col}` });
    }
    const { condition } = answer;
    try {
      const written = dialect === undefined || columns === undefined ? undefined : conditionSql(dialect, condition, columns);
      await record(true, `rows of ${query} by a condition`);
      return written === undefined
        ? { decision_id: id, condition: condition as unknown as Json }
        : { decision_id: id, sql: written.sql, parameters: [...written.parameters] };
    } catch (error) {
      if (isCoded(error, "validation_failed")) await record(false, "the condition is none of this database's");
      throw error;
    }
  },
};

/** As the decision log tells it: the condition is the result, and a refusal a failure with its code. */
function told(answer: FilterAnswer): PolicyAnswer {
  if (answer.kind === "condition") return { kind: "defined", value: answer.condition as unknown as Json };
  return { kind: "error", code: answer.code, message: answer.message };
}
