import { reachOf } from "../../sql/builtins.ts";
import { foldedName } from "../../sql/folded-name.ts";
import type { ColumnInput, SqlAnalysis, SqlCall } from "../../sql/types.ts";
import {
  businessEvidence,
  type Evidence,
  mayNameEvidence,
  nameOfFinding,
  policyOfFinding,
  safeName,
  unexplained,
  unread,
} from "../evidence.ts";
import { isAboutHealth, isAboutPeople, type LexiconTerm, meaningOf, Surroundings, termOf } from "../lexicon.ts";
import { recognise } from "../search/recognise.ts";
import type { Recogniser } from "../search/recogniser.ts";
import { loweredTier, policyOf, type TierPolicy, tierRank, unclassifiedTier } from "../tiers.ts";
import { isOrdinary } from "./ordinary-names.ts";

/** What is already known of a resource: its effective classification, by column where known. */
export interface KnownResource {
  readonly tier: string;
  readonly tags: readonly string[];
  /** Those that it lists; a column that it does not list has the tier of the whole. */
  readonly columns?: Readonly<Record<string, { readonly tier: string; readonly tags: readonly string[] }>>;
  /** Nobody said anything of it: its name may still tell more than its tier. */
  readonly unclassified?: true;
}

/** Looks a table up in the catalogue; names come as the query writes them. */
export type Catalogue = (table: string) => KnownResource | undefined;

/** Why a use of a column counts less than showing it. */
type Weakening = "masked" | "aggregated" | "only filtered by" | "a constant";

/**
 * Evidence of a query: projected columns by name and catalogue, columns that only filter one tier lower, aggregates and masked columns lower but never
 * public, a star takes its table, literals are searched like any text.
 */
export function sqlEvidence(
  analysis: SqlAnalysis,
  policy: TierPolicy,
  catalogue: Catalogue,
  recognisers: readonly Recogniser[],
): Evidence[] {
  const found: Evidence[] = [];
  const shown = new Set<string>();
  const around = surroundingsIn(analysis);
  for (const result of analysis.results) {
    for (const column of result.columns) {
      for (const input of column.inputs) {
        if (input.type === "INDIRECT") continue;
        shown.add(keyOf(input));
        const weak: Weakening | undefined = input.masking ? "masked" : isFigure(input) ? "aggregated" : undefined;
        found.push(...columnEvidence(input, policy, catalogue, weak, around(input.table)));
      }
      // A column of no table (a constant, a function of nothing) still has a telling name.
      if (column.inputs.length === 0)
        found.push(...columnEvidence({ table: "", field: column.name }, policy, catalogue, "a constant"));
    }
    for (const table of result.stars) found.push(...starEvidence(table, policy, catalogue));
  }
  for (const result of analysis.results) {
    const rest = [
      ...result.dataset,
      ...result.columns.flatMap((column) => column.inputs.filter((input) => input.type === "INDIRECT")),
    ];
    for (const input of rest) {
      if (shown.has(keyOf(input))) continue;
      shown.add(keyOf(input));
      found.push(...columnEvidence(input, policy, catalogue, "only filtered by", around(input.table)));
    }
  }
  // What is given for a column is searched beside its name, and not again without it.
  const named = new Set(analysis.literals.flatMap(({ value, column }) => (column === undefined ? [] : [value])));
  for (const { value, column } of analysis.literals)
    if (column !== undefined || !named.has(value)) found.push(...literalEvidence(value, column, policy, recognisers));
  for (const table of [...analysis.inputs, ...analysis.outputs]) {
    const known = catalogue(table);
    const tier = known !== undefined && tierRank(policy, known.tier) === 0 ? known.tier : unclassifiedTier(policy);
    found.push(businessEvidence(tier, `table ${safeName(table)}`));
  }
  const files = analysis.inputs.filter((table) => FILE.test(table) && catalogue(table) === undefined);
  if (files.length > 0) {
    const reason = "a file is read of which nobody knows what it holds";
    found.push(unexplained(policy, reason));
  }
  // Beside no relation at all a word that all code has (`if (a == null) return a`) is none either.
  const relations = analysis.inputs.length + analysis.outputs.length > 0;
  for (const name of analysis.unexplained) {
    if (catalogue(name) !== undefined && (relations || !isOrdinary(name))) found.push(...starEvidence(name, policy, catalogue));
    else {
      const parts = name.split(".");
      for (const field of parts) found.push(...columnEvidence({ table: "", field }, policy, catalogue, undefined));
      // `orders.total` beside another name that was given to the table.
      const table = parts.slice(0, -1).join(".");
      const known = table !== "" && catalogue(table) !== undefined;
      if (known) found.push(...columnEvidence({ table, field: parts.at(-1) ?? "" }, policy, catalogue, undefined));
    }
  }
  if (analysis.unexplained.length > 0) {
    const names = analysis.unexplained.slice(0, 5).map(safeName).join(", ");
    found.push(unexplained(policy, `no rule explains ${names}${analysis.unexplained.length > 5 ? " and others" : ""}`));
  }
  for (const path of analysis.paths)
    found.push(...columnEvidence({ table: "", field: path, member: path }, policy, catalogue, undefined));
  for (const call of analysis.calls) found.push(...callEvidence(call, policy, catalogue));
  for (const reason of analysis.doubts) found.push(unexplained(policy, reason));
  for (const reason of analysis.unread) found.push(unread(policy, reason));
  return found;
}

/** Names of files and stages in the place of a table's. */
const FILE = /^[@~]|[/\\]|\.(?:csv|tsv|txt|jsonl?|ndjson|parquet|avro|orc|arrow|xlsx?|db|sqlite|gz|zst)$/i;

/** `min(name)` shows a name; `count(name)` does not. */
function isFigure(input: ColumnInput): boolean {
  return input.subtype === "AGGREGATION" && input.revealing !== true;
}

function keyOf(input: ColumnInput): string {
  return `${input.table}\0${input.field.toLowerCase()}\0${input.member ?? ""}`;
}

/** For each table of a statement: the table, and all columns that the statement names. */
function surroundingsIn(analysis: SqlAnalysis): (table: string) => Surroundings {
  const columns = analysis.results.flatMap((result) =>
    [...result.columns.flatMap(({ inputs }) => inputs), ...result.dataset].map(({ field }) => field),
  );
  const tables = new Map<string, Surroundings>();
  return (table) => {
    const known = tables.get(table) ?? new Surroundings(table, columns);
    tables.set(table, known);
    return known;
  };
}

function columnEvidence(
  { table, field: column, member }: Pick<ColumnInput, "table" | "field" | "member">,
  policy: TierPolicy,
  catalogue: Catalogue,
  weak: Weakening | undefined,
  around: string | Surroundings = table,
): Evidence[] {
  if (column === "*") return starEvidence(table, policy, catalogue, weak);
  const known = catalogue(table);
  const columns = known?.columns ?? {};
  const exact = Object.hasOwn(columns, column)
    ? columns[column]
    : Object.entries(columns).find(([name]) => foldedName(name) === foldedName(column))?.[1];
  const why = weak === undefined ? "" : `, ${weak}`;
  const place = `${member === undefined ? "" : `member ${safeName(member)} of `}column ${safeName(column)}${table === "" ? "" : ` of ${safeName(table)}`}`;
  const lowered = (tier: string) => (weak === undefined ? tier : loweredTier(policy, tier));
  if (exact !== undefined) {
    return [
      {
        entity: `COLUMN:${column}`,
        tier: lowered(exact.tier),
        tags: exact.tags,
        kind: "catalogue",
        reason: `${place} is registered as ${exact.tier}${why}`,
        column,
      },
    ];
  }
  const found: Evidence[] = [];
  const terms = termsOf(column, member, around);
  for (const term of terms) {
    const { tier, tags } = policyOf(policy, term.entity);
    found.push({
      entity: term.entity,
      tier: lowered(tier),
      tags,
      kind: "name",
      reason: `${place} names ${term.term}${why}`,
      column,
    });
  }
  const possible = terms.length > 0 ? undefined : meaningOf(member ?? column, around).possible;
  if (possible !== undefined) found.push(mayNameEvidence(policy, place, possible.term));
  // A column that the register does not speak of has the tier of its table.
  if (known !== undefined && tierRank(policy, known.tier) > 1) {
    const reason = `${place}, which is registered as ${known.tier}${why}`;
    found.push({ entity: `COLUMN:${column}`, tier: lowered(known.tier), tags: known.tags, kind: "catalogue", reason, column });
  }
  return found;
}

/** What a column's name says, or each name on the way to a member of it. */
function termsOf(column: string, member: string | undefined, around: string | Surroundings): readonly LexiconTerm[] {
  const found = new Set([member ?? "", ...(member?.split(".") ?? [])].flatMap((name) => termOf(name, around) ?? []));
  const own = found.size > 0 ? undefined : termOf(column, around);
  return own === undefined ? [...found] : [own];
}

/**
 * Evidence of a call of which nobody knows what it reads: what it is called after, tables that it is given by name, and that it is not explained. One that names the table or file that it reads is
 * explained where the catalogue knows that.
 */
function callEvidence({ name, texts, rows }: SqlCall, policy: TierPolicy, catalogue: Catalogue): Evidence[] {
  const tables = texts.filter((text) => text.length <= MAX_NAME && catalogue(text) !== undefined);
  const named = reachOf(name) === "named";
  if (named && tables.length > 0) return [];
  const found = tables.flatMap((table) => starEvidence(table, policy, catalogue));
  if (!named)
    found.push(...columnEvidence({ table: "", field: name.slice(name.lastIndexOf(".") + 1) }, policy, catalogue, undefined));
  if (rows) found.push(...starEvidence(name, policy, catalogue));
  const reason = `no rule explains what ${safeName(name)} reads`;
  return [...found, unexplained(policy, reason)];
}
const MAX_NAME = 512;

/** Evidence of a table that is shown whole; `weak`: its rows are shown less than plainly. */
export function starEvidence(table: string, policy: TierPolicy, catalogue: Catalogue, weak?: Weakening): Evidence[] {
  const known = catalogue(table);
  const tierOf = (tier: string) => (weak === undefined ? tier : loweredTier(policy, tier));
  const why = weak === undefined ? "" : `, ${weak}`;
  if (known !== undefined && known.unclassified !== true) {
    return [
      {
        entity: `TABLE:${table}`,
        tier: tierOf(known.tier),
        tags: known.tags,
        kind: "catalogue",
        reason: `all columns of ${safeName(table)}, registered as ${known.tier}${why}`,
      },
    ];
  }
  const entity = isAboutHealth(table) ? "HEALTH_DATA" : isAboutPeople(table) ? "PERSON" : undefined;
  if (entity === undefined) return [];
  const { tier, tags } = policyOf(policy, entity);
  return [
    {
      entity,
      tier: tierOf(tier),
      tags,
      kind: "name",
      reason: `all columns of ${safeName(table)}, which is about ${entity === "PERSON" ? "people" : "patients"}${why}`,
    },
  ];
}

function literalEvidence(
  value: string,
  column: string | undefined,
  policy: TierPolicy,
  recognisers: readonly Recogniser[],
): Evidence[] {
  const hints = column === undefined ? [] : [column.toLowerCase().replace(/_/g, " ")];
  const found = recognise(value, recognisers, { hints }).map((finding): Evidence => {
    const { tier, tags } = policyOfFinding(policy, finding);
    return {
      entity: finding.entity,
      tier,
      tags,
      kind: finding.validator === "passed" ? "checksum" : finding.contextWord === undefined ? "pattern" : "context",
      reason: `a literal${column === undefined ? "" : ` compared with column ${safeName(column)}`} is ${nameOfFinding(finding)} (${finding.pattern})`,
      finding,
      ...(column === undefined ? {} : { column }),
    };
  });
  const term = column === undefined ? undefined : termOf(column);
  if (found.length === 0 && term !== undefined && value.length >= 4) {
    const { tier, tags } = policyOf(policy, term.entity);
    found.push({
      entity: term.entity,
      tier,
      tags,
      kind: "name",
      reason: `a literal is given for column ${safeName(column ?? "")}, which names ${term.term}`,
      ...(column === undefined ? {} : { column }),
    });
  }
  return found;
}
