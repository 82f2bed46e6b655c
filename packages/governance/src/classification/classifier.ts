import type { JsonObject } from "@seneschal/kernel";
import { checkOptions } from "@seneschal/kernel";
import { governanceError } from "../errors.ts";
import { withoutMarkers } from "../redaction/markers.ts";
import { isDialectName } from "../sql/dialect-of.ts";
import { parseSql } from "../sql/parse-sql.ts";
import { splitStatements, sqlTokens } from "../sql/split-statements.ts";
import type { SqlParser } from "../sql/sql-parser.ts";
import { filledTemplates } from "../sql/templates.ts";
import type { SchemaOf } from "../sql/types.ts";
import { isBirthDate } from "./birth-date.ts";
import { namedEvidence } from "./code/code-evidence.ts";
import { withoutUrlEncoding } from "./code/code-strings.ts";
import { hiddenQueryEvidence } from "./code/hidden-query.ts";
import { queryCodeEvidence, readsLikeQueryCode } from "./code/query-code.ts";
import { innerEvidence, plainQueryEvidence, readSql, type SqlContext, stringsEvidence } from "./code/read-sql.ts";
import type { Catalogue } from "./code/sql-evidence.ts";
import { withSystemResources } from "./code/system-resources.ts";
import {
  hasSignsOfCode,
  looksLikeSql,
  readsLikeCommand,
  readsLikeSentence,
  saysNothing,
  sqlWordsEvidence,
  strangeEvidence,
  unreadOperation,
} from "./code/unread-sql.ts";
import { wholeCopyEvidence } from "./code/whole-copy.ts";
import { jsonEvidence, tableEvidence } from "./columns/structured-evidence.ts";
import { confidenceOf, hiddenNames } from "./confidence.ts";
import { businessEvidence, type Evidence, entitiesOf, nameOfFinding, policyOfFinding, safeName, unread } from "./evidence.ts";
import { beginsLikeSql, csvOf, embeddedSql, jsonOf, type QueryForm, quotedSql } from "./form.ts";
import { DEFAULT_RECOGNISERS } from "./recognisers/index.ts";
import { type DataRequest, requestOf } from "./request.ts";
import { EncodedRuns } from "./search/encoded-texts.ts";
import { narrowingOf } from "./search/narrowed.ts";
import { recogniseShown } from "./search/recognise-shown.ts";
import type { Finding, Recogniser } from "./search/recogniser.ts";
import { DEFAULT_TIER_POLICY, loweredTier, lowestTier, policyOf, type TierPolicy, tagsOf, tierRank } from "./tiers.ts";

/** Longest text that is classified in one piece, in UTF-16 code units. */
export const MAX_QUERY_LENGTH = 524_288;

export interface ClassifierOptions {
  readonly policy?: TierPolicy;
  /** Replaces the built-in recognisers; add to them with `[...DEFAULT_RECOGNISERS, mine]`. */
  readonly recognisers?: readonly Recogniser[];
  /** Without one, SQL is read as text. */
  readonly sql?: SqlParser;
  readonly catalogue?: Catalogue;
  readonly schemaOf?: SchemaOf;
}

/** A finding with what it means under the policy and where it is. */
export interface ClassifiedFinding extends Finding {
  readonly tier: string;
  readonly tags: readonly string[];
  readonly path?: string;
  readonly column?: string;
}

/** The answer: sensitivity of a text, and why. Never holds a value of the text. */
export interface ClassificationResult {
  readonly tier: string;
  /** Estimated probability that `tier` is right, 0..1. */
  readonly confidence: number;
  /** Kinds, entity tags, regimes, each sorted. */
  readonly tags: readonly string[];
  readonly reasoning: string;
  readonly classifier_used: "heuristic";
  readonly form: QueryForm;
  readonly operation?: string;
  readonly scope?: DataRequest["scope"];
  readonly findings: readonly ClassifiedFinding[];
  /** How many findings are not told because there are too many; the tier and the tags are of all. */
  readonly findings_omitted?: number;
}

/** Classifies texts under one policy. Holds no state between calls. */
export interface Classifier {
  readonly policy: TierPolicy;
  /** Throws `validation_failed` for a text that is too long or a dialect that nobody knows, `classification_failed` for an inner fault: never a silent PUBLIC. */
  classify(query: string, context?: JsonObject): ClassificationResult;
}

/**
 * Builds a classifier.
 *
 * @example
 * ```ts
 * import { createClassifier } from "@seneschal/governance";
 * const classifier = createClassifier();
 * const { tier, tags } = classifier.classify("my ssn is 536-22-8726");
 * console.log(tier, tags.includes("SSN")); // PROPRIETARY true
 * ```
 */
export function createClassifier(options: ClassifierOptions = {}): Classifier {
  checkOptions("options", options, {
    policy: "object?",
    recognisers: "array?",
    sql: "object?",
    catalogue: "function?",
    schemaOf: "function?",
  });
  const policy = options.policy ?? DEFAULT_TIER_POLICY;
  return {
    policy,
    classify(query, context = {}) {
      checkLength(query);
      if (typeof context !== "object" || context === null) throw new TypeError("context: expected an object");
      checkDialect(context);
      try {
        return classify(query, context, policy, options);
      } catch (cause) {
        throw governanceError("classification_failed", "the text could not be classified", {}, cause);
      }
    },
  };
}

/** Throws `validation_failed` for a dialect that nobody knows: a slip of the pen would change what is read. */
export function checkDialect({ dialect }: JsonObject): void {
  if (dialect === undefined || dialect === null || dialect === "" || (typeof dialect === "string" && isDialectName(dialect)))
    return;
  const reason = "expected the name of a dialect of SQL, as postgres or mysql";
  throw governanceError("validation_failed", `context.dialect: ${reason}`, { field: "context.dialect", reason });
}

/** Throws `validation_failed` for a text that is too long, `TypeError` for what is no text. */
export function checkLength(query: string): void {
  if (typeof query !== "string") throw new TypeError("query: expected a string");
  if (query.length <= MAX_QUERY_LENGTH) return;
  const reason = `at most ${MAX_QUERY_LENGTH} characters`;
  throw governanceError("validation_failed", `query: ${reason}`, { field: "query", reason });
}

/** What a caller who asks for some entities is told: what is none of them is left out, but for what nobody could read and what the catalogue says. */
function isAsked({ entity, kind, finding }: Evidence, entities: ReadonlySet<string> | undefined): boolean {
  if (entities === undefined || kind === "catalogue" || kind === "object" || kind === "unexplained" || kind === "unread")
    return true;
  return (
    entities.has(entity) ||
    (finding !== undefined &&
      entitiesOf(finding)
        .slice(1)
        .some((other) => entities.has(other)))
  );
}

/** Encodings within encodings so deep are read; what lies deeper may be anything. */
const MAX_ENCODED = 4;

function classify(query: string, context: JsonObject, policy: TierPolicy, options: ClassifierOptions): ClassificationResult {
  const encoded = new EncodedRuns(query);
  const { evidence, form, operation, scope } = evidenceOf(encoded, context, policy, options);
  evidence.push(...encodedEvidence(encoded, policy, options, 1));
  const narrowed = narrowingOf(options.recognisers ?? DEFAULT_RECOGNISERS);
  const told = dropRepeated(evidence).filter((each) => isAsked(each, narrowed?.entities));
  const result = conclude(told, query, policy, form, operation, scope);
  return narrowed === undefined
    ? result
    : { ...result, reasoning: `${result.reasoning}; less was asked for than a text may hold` };
}

/** Evidence of the texts that a text holds in an encoding: they are read as they would be alone. Their places are not of this text. */
function encodedEvidence(
  encoded: EncodedRuns,
  policy: TierPolicy,
  options: ClassifierOptions,
  depth: number,
): readonly Evidence[] {
  return encoded.all.flatMap(([how, text]) => {
    if (depth > MAX_ENCODED) return [unread(policy, `${how} within ${how}`)];
    const inner = new EncodedRuns(text);
    const found = evidenceOf(inner, {}, policy, options).evidence.map(({ finding: _, path: __, ...evidence }) => ({
      ...evidence,
      reason: `within ${how}: ${evidence.reason}`,
    }));
    return [...found, ...encodedEvidence(inner, policy, options, depth + 1)];
  });
}

interface Reading {
  readonly evidence: Evidence[];
  readonly form: QueryForm;
  readonly operation: string | undefined;
  readonly scope: DataRequest["scope"] | undefined;
}

function evidenceOf(encoded: EncodedRuns, context: JsonObject, policy: TierPolicy, options: ClassifierOptions): Reading {
  const given = encoded.text;
  const recognisers = options.recognisers ?? DEFAULT_RECOGNISERS;
  const query = withoutMarkers(given, { policy, recognisers });
  const evidence: Evidence[] = [];
  let form: QueryForm = "text";
  let operation: string | undefined;
  let scope: DataRequest["scope"] | undefined;

  const catalogue = withSystemResources(options.catalogue ?? (() => undefined), policy);
  const reader: SqlContext = { sql: options.sql, policy, recognisers, catalogue, schemaOf: options.schemaOf };
  const lookup = options.catalogue !== undefined;
  const dialect = textOf(context["dialect"]);
  const sql = readSql(reader, query, dialect);
  const json = sql === undefined ? jsonOf(given) : undefined;
  const rows = sql === undefined && json === undefined && !beginsLikeSql(query) ? csvOf(given) : undefined;
  if (sql !== undefined) {
    form = "sql";
    operation = sql.operation;
    // What the tree does not carry (comments, odd literals) is searched as text; shapes of plain numbers are left to the literals.
    for (const each of sql.evidence) evidence.push(each);
    evidence.push(...withoutNames(given, textEvidence(encoded, context, policy, recognisers)));
    // Words that a dialect takes for a statement without a table (`explain our revenue`) may ask for data all the same.
    const request = sql.idle ? requestOf(query) : undefined;
    if (request !== undefined) evidence.push(...requestEvidence(request, policy));
    if (sql.unread || sql.idle) {
      const { evidence: inner, rest } = stringsEvidence(reader, query);
      evidence.push(...inner, ...plainQueryEvidence(reader, rest));
      if (lookup) evidence.push(...namedEvidence(rest, policy, catalogue, true));
    }
  } else if (json !== undefined) {
    form = "json";
    evidence.push(
      ...plainQueryEvidence(reader, query),
      ...jsonEvidence(json, policy, recognisers, catalogue, leafReader(reader, lookup)),
    );
  } else if (rows !== undefined) {
    form = "csv";
    evidence.push(...tableEvidence(rows, policy, recognisers));
    evidence.push(...plainQueryEvidence(reader, query));
    const read = leafReader(reader, lookup);
    for (const cell of rows.flat()) if (/\p{L}{2}/u.test(cell)) evidence.push(...read(cell));
    // Who names a dialect says that it is for a database, whatever it looks like.
  } else if (
    options.sql !== undefined &&
    ((dialect !== undefined && isDialectName(dialect)) || readsLikeCommand(query, catalogue))
  ) {
    form = "sql";
    operation = unreadOperation(query);
    evidence.push(
      ...withoutNames(given, textEvidence(encoded, context, policy, recognisers)),
      ...strangeEvidence(query, policy, catalogue),
    );
    evidence.push(...codeEvidence(reader, query, lookup, true));
  } else if (readsLikeQueryCode(query)) {
    form = "query";
    evidence.push(
      ...withoutNames(given, textEvidence(encoded, context, policy, recognisers)),
      ...queryCodeEvidence(query, policy),
    );
    evidence.push(...codeEvidence(reader, query, lookup, true));
  } else {
    evidence.push(...textEvidence(encoded, context, policy, recognisers));
    evidence.push(...codeEvidence(reader, query, lookup, false));
    const request = requestOf(query);
    if (request !== undefined) {
      operation = request.operation;
      scope = request.scope;
      evidence.push(...requestEvidence(request, policy));
    }
  }
  evidence.push(...reachEvidence(query, policy));
  return { evidence, form, operation, scope };
}

/** Evidence of what a text reaches that it does not show. */
function reachEvidence(text: string, policy: TierPolicy): readonly Evidence[] {
  return [...wholeCopyEvidence(text, policy), ...hiddenQueryEvidence(text, policy)];
}

/**
 * Reads texts within a document as what they are themselves: queries, code, requests, names. One that is said again is read once. A value of one word is looked up,
 * since that is how documents name tables, and prose is read as prose.
 */
function leafReader(reader: SqlContext, lookup: boolean): (leaf: string) => readonly Evidence[] {
  const { policy, catalogue } = reader;
  const read = new Set<string>();
  return (given) => {
    const leaf = withoutMarkers(given, reader);
    if (leaf.length < 2 || read.has(leaf)) return [];
    read.add(leaf);
    const spaced = /\S\s+\S/.test(leaf);
    const request = spaced ? requestOf(leaf) : undefined;
    return [
      ...innerEvidence(reader, leaf),
      ...(lookup ? namedEvidence(leaf, policy, catalogue, !spaced) : []),
      ...(request === undefined ? [] : requestEvidence(request, policy)),
      ...reachEvidence(leaf, policy),
    ];
  };
}

/** Evidence of what a text of another kind holds of queries: statements in quotes or not, and of the names beside them, where there are tables to be found. */
function codeEvidence(reader: SqlContext, text: string, lookup: boolean, code: boolean): readonly Evidence[] {
  const { evidence, rest } = stringsEvidence(reader, text);
  const decoded = withoutUrlEncoding(rest);
  return [
    ...evidence,
    ...quotedSql(rest).flatMap((inner) => innerEvidence(reader, inner)),
    ...embeddedEvidence(reader, rest),
    ...plainQueryEvidence(reader, rest),
    ...(decoded === rest ? [] : [...embeddedEvidence(reader, decoded), ...plainQueryEvidence(reader, decoded)]),
    ...(lookup ? namedEvidence(decoded, reader.policy, reader.catalogue, code) : []),
  ];
}

/** Evidence of statements that stand in a text without quotes: between semicolons; from where one begins, as far as one reads, else of the words from there on. */
function embeddedEvidence(reader: SqlContext, text: string): readonly Evidence[] {
  if (reader.sql === undefined) return [];
  const split = splitStatements(text);
  // A bracket that nobody closes hides no statement behind it.
  const parts = split.length > 1 ? split : text.includes(";") ? text.split(";").map((part) => part.trim()) : [];
  const surely = parts.filter((part) => looksLikeSql(part) && hasSignsOfCode(part));
  const between = (surely.length > 0 ? parts : []).flatMap((part) => {
    if (surely.includes(part)) return readSql(reader, part)?.evidence ?? [];
    return part === "" || saysNothing(part) || readsLikeSentence(part)
      ? []
      : strangeEvidence(part, reader.policy, reader.catalogue);
  });
  const embedded = embeddedSql(text);
  const found = embedded === undefined ? undefined : filledTemplates(embedded);
  if (found === undefined || !(hasSignsOfCode(found) || found !== embedded)) return between;
  for (const part of [found, found.split(/;|\n/, 1)[0] ?? ""]) {
    const { statements, failed } = parseSql(reader.sql, part);
    if (failed === 0 && statements.length > 0) return [...between, ...(readSql(reader, part)?.evidence ?? [])];
  }
  return [...between, ...sqlWordsEvidence(found, reader.policy, reader.catalogue)];
}

function textEvidence(
  encoded: EncodedRuns,
  context: JsonObject,
  policy: TierPolicy,
  recognisers: readonly Recogniser[],
): Evidence[] {
  const country = textOf(context["country"])?.toLowerCase();
  const given = country === undefined ? {} : { country: country === "gb" ? "uk" : country };
  return recogniseShown(encoded.text, recognisers, policy, given, encoded).map((finding) => {
    const entity = isBirthDate(finding) ? "DATE_OF_BIRTH" : finding.entity;
    const { tier, tags } = policyOfFinding(policy, { ...finding, entity });
    const check = finding.validator === "passed" ? ", check passed" : "";
    const near = finding.contextWord === undefined ? "" : `, near "${finding.contextWord}"`;
    return {
      entity,
      tier,
      tags,
      kind: finding.validator === "passed" ? "checksum" : finding.contextWord === undefined ? "pattern" : "context",
      reason: `${nameOfFinding(finding, entity)} at ${finding.start}-${finding.end} (${finding.pattern}${check}${near})`,
      finding: entity === finding.entity ? finding : Object.assign({}, finding, { entity }),
    };
  });
}

/** Without the hosts that are names of a query (`crm.services`): what is none stands in quotes or in a comment. */
function withoutNames(query: string, evidence: Evidence[]): Evidence[] {
  if (!evidence.some(isHost)) return evidence;
  const names = new Set(sqlTokens(query).flatMap(({ start, quoted }) => (quoted ? [] : [start])));
  return evidence.filter((each) => !isHost(each) || !names.has(each.finding?.start ?? -1));
}

function isHost({ finding }: Evidence): boolean {
  return finding?.entity === "URL" && finding.pattern === "bare host";
}

function requestEvidence(request: DataRequest, policy: TierPolicy): Evidence[] {
  const found: Evidence[] = request.objects.map(({ term, masked }) => {
    const { tier, tags } = policyOf(policy, term.entity);
    const weak = masked || request.scope === "aggregate";
    const why = masked
      ? ", masked"
      : request.scope === "aggregate"
        ? ", as a figure"
        : request.scope === "bulk"
          ? ", in bulk"
          : "";
    return {
      entity: term.entity,
      tier: weak ? loweredTier(policy, tier) : tier,
      tags,
      kind: "request",
      reason: `the request asks for ${term.term}${why}`,
    };
  });
  if (request.business) {
    found.push(businessEvidence(policyOf(policy, "BUSINESS_OBJECT").tier, "the request names business data"));
  }
  return found;
}

/** The same span found twice (as a literal and as text) counts once. */
function dropRepeated(evidence: readonly Evidence[]): Evidence[] {
  const literal = new Set(evidence.filter((e) => e.finding !== undefined && e.column !== undefined).map((e) => e.entity));
  const seen = new Set<string>();
  return evidence.filter((e) => {
    if (e.finding !== undefined && e.column === undefined && e.path === undefined && literal.has(e.entity)) return false;
    const key =
      e.finding === undefined ? `${e.entity}/${e.reason}` : `${e.entity}/${e.finding.start}/${e.path ?? ""}/${e.column ?? ""}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function conclude(
  evidence: readonly Evidence[],
  query: string,
  policy: TierPolicy,
  form: QueryForm,
  operation: string | undefined,
  scope: DataRequest["scope"] | undefined,
): ClassificationResult {
  let rank = 0;
  for (const e of evidence) rank = Math.max(rank, tierRank(policy, e.tier));
  const quasi = new Set(evidence.filter((e) => e.tags.includes("QUASI_IDENTIFIER") && e.kind !== "object").map((e) => e.entity));
  const many = form !== "text" && quasi.size >= policy.quasiThreshold && rank < tierRank(policy, policy.quasiTier);
  if (many) rank = tierRank(policy, policy.quasiTier);
  const tier = policy.tiers[rank] ?? lowestTier(policy);
  const doubt = evidence.some(isDoubt);
  const winning = evidence.filter((e) => (many ? quasi.has(e.entity) : tierRank(policy, e.tier) === rank && rank > 0));
  const extra = evidence.filter((e) => e.kind === "catalogue").flatMap((e) => e.tags);
  const tags = [
    ...new Set([
      ...tagsOf(
        policy,
        evidence
          .filter((e) => e.kind !== "catalogue")
          .flatMap((e) => [e.entity, ...(e.finding === undefined ? [] : entitiesOf(e.finding).slice(1))]),
      ),
      ...extra,
    ]),
  ];
  const why = winning.length > 0 ? winning : evidence;
  // What was not understood is told whatever else was.
  const reasons = [...new Set([...why.filter(isDoubt), ...why, ...evidence.filter(isDoubt)].map((e) => e.reason))];
  const shown = reasons.slice(0, 8).join("; ") + (reasons.length > 8 ? `; and ${reasons.length - 8} more` : "");
  const quasiNote = many ? `${quasi.size} quasi-identifiers together identify people: ` : "";
  return {
    tier,
    confidence: Math.round(confidenceOf(winning, rank, form === "text" ? hiddenNames(query) : undefined, doubt) * 1000) / 1000,
    tags,
    reasoning:
      reasons.length === 0 ? `${tier}: nothing sensitive found and no business data named` : `${tier}: ${quasiNote}${shown}`,
    classifier_used: "heuristic",
    form,
    ...(operation === undefined ? {} : { operation }),
    ...(scope === undefined ? {} : { scope }),
    findings: evidence.flatMap((e) => (e.finding === undefined ? [] : classified(e, e.finding, policy))),
  };
}

function isDoubt({ kind }: Evidence): boolean {
  return kind === "unexplained" || kind === "unread";
}

function classified({ tier, entity, path, column }: Evidence, finding: Finding, policy: TierPolicy): ClassifiedFinding {
  const place = { ...(path === undefined ? {} : { path }), ...(column === undefined ? {} : { column: safeName(column) }) };
  return Object.assign({ tier, tags: tagsOf(policy, entitiesOf({ ...finding, entity })) }, finding, place);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
