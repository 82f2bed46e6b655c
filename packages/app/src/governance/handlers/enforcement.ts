import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import {
  type EnforcedTable,
  type Enforcement,
  evaluateOperation,
  FILTERED_ROW,
  filterRules,
  governanceError,
  MAX_ENFORCED_SQL,
  type OperationVerdict,
  queriedCatalogue,
} from "@seneschal/governance";
import { isCoded, type Json } from "@seneschal/kernel";
import { type CompiledPolicy, checkDecided, type RowCondition } from "@seneschal/kernel/ports";
import { auditOf } from "../audit/event.ts";
import type { DataCatalogue } from "../catalogues.ts";
import { decisionPuts, hearing } from "../decision-log.ts";
import { operationRequest } from "../operation-request.ts";
import type { GovernanceServices } from "../services.ts";
import { NOBODY, ownerOf, whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "enforce">;

export const enforcementHandlers: Handlers<Routes, GovernanceServices> = {
  async enforce(services, input) {
    const { catalogues, store, classifier, tiers, policyRevision } = services;
    const { sql, dialect, resources, view_schema, ...asked } = input.body;
    const catalogue = await catalogues.at(input.principal?.org ?? NOBODY);
    const owner = ownerOf(input);
    const id = randomUUID();
    let sources: readonly string[] = [];
    const who = whoOf(input, asked.user_context.user_id);
    const owned: CompiledPolicy = {
      packages: services.policy.packages,
      evaluate: (path, question, options) => services.policy.evaluate(path, question, Object.assign({ owner }, options)),
    };
    const { policy, first } = hearing(owned, services.clock);
    const record = async (allowed: boolean, reasoning: string, verdict?: OperationVerdict) =>
      store.commit({
        commitId: randomUUID(),
        puts: await decisionPuts(services, who, id, first()),
        audit: [
          auditOf(who, {
            id,
            operation: "ENFORCE",
            resource: sources[0] ?? "",
            resources: sources,
            allowed,
            reasoning,
            policyRevision,
            ...(verdict === undefined ? {} : { tier: verdict.tier, tags: verdict.tags, policyId: verdict.policyId }),
            ...(asked.approval_id === undefined ? {} : { approvalId: asked.approval_id }),
          }),
        ],
      });
    /** What fails before there is a decision, or on the way to carry it out, is a denial too. */
    const recorded = async <T>(work: Promise<T>, verdict?: OperationVerdict): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        if (isCoded(error, "policy_evaluation_failed", "classification_failed")) await record(false, error.message, verdict);
        throw error;
      }
    };
    const { tables: names, columns } = await recorded(classifier.reads({ sql, dialect }, owner));
    // Which of several resources a name means, only the caller can say, and no other than those that it may mean; the others count nonetheless.
    const tables = names.map((name) => {
      const named = catalogue.graph.named(name);
      const given = Object.hasOwn(resources, name) ? resources[name] : undefined;
      if (given !== undefined && named.length > 0 && !named.includes(given))
        throw governanceError("validation_failed", `resources.${name}: none of what the name may mean`, {
          field: `resources.${name}`,
        });
      const id = given ?? idOf(catalogue, dialect, name, named);
      return { name, id, ids: [...new Set([id, ...named])], registered: named.length > 0 };
    });
    sources = [...new Set(tables.flatMap(({ ids }) => ids))];
    // A view shows all columns, a filter tells of its own.
    const filters = (asked.transformations ?? []).flatMap(({ column }) => (column === undefined ? [] : [column.toLowerCase()]));
    const shown = view_schema === undefined && columns !== undefined ? [...columns, ...filters] : undefined;
    const seen = queriedCatalogue(catalogue, tiers, tables, shown);
    const request = operationRequest({ ...asked, operation_type: "QUERY", source_resources: [...sources] });
    const verdict = await recorded(evaluateOperation(request, seen, policy, tiers, input.now));
    const { obligations } = verdict;
    let reasoning = `${verdict.allowed ? "Allowed" : "Denied"} by ${verdict.policyName}: ${verdict.reasons.join("; ")}`;
    let enforced: Enforcement | undefined;
    if (verdict.allowed) {
      try {
        const filtered = (table: { readonly name: string; readonly id: string }) =>
          conditionsOf(services, filterRules(obligations), {
            user: { ...asked.user_context },
            purpose: asked.purpose ?? null,
            table: { id: catalogue.graph.canonical(table.id), name: table.name },
            now: input.now,
          });
        const described = withColumns(tables, catalogue);
        const conditions = await recorded(Promise.all(tables.map(filtered)), verdict);
        const task = {
          sql,
          dialect,
          obligations,
          tables: described.map((table, i) => ({ ...table, conditions: conditions[i] ?? {} })),
        };
        const views = view_schema === undefined ? {} : { viewSchema: view_schema };
        enforced = await recorded(classifier.enforce({ ...task, ...views }, owner), verdict);
      } catch (error) {
        if (!isCoded(error, "validation_failed")) throw error;
        // An obligation that nobody can carry out is a denial.
        reasoning = `Denied, as it cannot be carried out: ${error.message}`;
      }
    }
    await record(enforced !== undefined, reasoning, verdict);
    return {
      allowed: enforced !== undefined,
      reasoning,
      classification: { tier: verdict.tier, tags: [...verdict.tags] },
      policy_evaluation: { policy_id: verdict.policyId, policy_name: verdict.policyName },
      decision_id: id,
      tables: [...names],
      obligations: obligations.map((o) => ({ ...o, properties: { ...o.properties } })),
      ...(enforced === undefined ? {} : { sql: enforced.sql }),
      ...(enforced?.views === undefined ? {} : { views: [...enforced.views] }),
    };
  },
};

/**
 * The resource that a table's name stands for: of that name, or the one that the name alone may mean and that a scan found under it in such a database
 * (`postgres://host:5432/shop.public.orders`).
 */
function idOf(catalogue: DataCatalogue, dialect: string, name: string, named: readonly string[]): string {
  const [only] = named;
  if (catalogue.graph.has(name) || only === undefined || named.length > 1) return name;
  const isThere = /^\w+/.exec(only)?.[0] === dialect && `.${only.slice(only.lastIndexOf("/") + 1)}`.endsWith(`.${name}`);
  return isThere ? only : name;
}

/** For which rows of a table each rule of a row filter holds. A rule that no condition says is none, which makes a denial of it; throws `policy_evaluation_failed` for one that fails. */
async function conditionsOf(
  { policy }: GovernanceServices,
  rules: readonly string[],
  { now, ...input }: { readonly now: number } & { readonly [name: string]: Json },
): Promise<Readonly<Record<string, RowCondition>>> {
  const found: Record<string, RowCondition> = {};
  for (const rule of rules) {
    if (policy.filter === undefined)
      throw governanceError("validation_failed", "obligations: the policy engine evaluates for one row at a time alone");
    const answer = await policy.filter(rule.split("."), [FILTERED_ROW], input, { now });
    if (answer.kind === "error") {
      checkDecided(answer);
      throw governanceError("policy_evaluation_failed", "the policy could not be evaluated", { reason: answer.code });
    }
    if (answer.kind === "refused")
      throw governanceError(
        "validation_failed",
        `obligations: ${rule}: ${answer.message} (${basename(answer.file)}:${answer.row}:${answer.col})`,
      );
    found[rule] = answer.condition;
  }
  return found;
}

/** The tables with the columns that are known of them. Throws `validation_failed` for more than a query could name: it is not even sent. */
function withColumns(
  tables: readonly { readonly name: string; readonly id: string }[],
  catalogue: DataCatalogue,
): readonly EnforcedTable[] {
  let length = 0;
  return tables.map(({ name, id }) => {
    const columns = Object.keys(catalogue.resource(id)?.columns ?? {});
    for (const column of columns) length += column.length;
    if (length > MAX_ENFORCED_SQL) throw governanceError("validation_failed", "sql: its tables have too many columns");
    const described = catalogue.graph.info(id)?.columns ?? {};
    const types = Object.entries(described).flatMap(([column, { type }]) =>
      type === undefined ? [] : [[column, type] as const],
    );
    return { name, columns, types: Object.fromEntries(types) };
  });
}
