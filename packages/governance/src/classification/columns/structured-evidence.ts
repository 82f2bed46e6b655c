import { saysSomething, shownOf, withoutMarkers } from "../../redaction/markers.ts";
import { namesEvidence } from "../code/query-code.ts";
import { type Catalogue, starEvidence } from "../code/sql-evidence.ts";
import { type Evidence, mayNameEvidence, nameOfFinding, policyOfFinding, safeName } from "../evidence.ts";
import { isOtherwise, meaningOf, Surroundings } from "../lexicon.ts";
import { isConcept, Pairs } from "../named-values/pairs.ts";
import { wordsOf } from "../names/words-of.ts";
import { isHealthName } from "../prose/health-mentions.ts";
import { recogniseShown } from "../search/recognise-shown.ts";
import type { Recogniser } from "../search/recogniser.ts";
import { policyOf, type TierPolicy } from "../tiers.ts";
import { valuesInName } from "./column-name.ts";
import { type ColumnSample, type ColumnVerdict, classifyColumn } from "./columns.ts";
import { shownColumn, shownName } from "./shown-column.ts";

const MAX_LEAVES = 20_000;
const MAX_NAME = 512;
/** `$ssn`, `$$ROOT.ssn`: a field, in queries of document stores. */
const FIELD = /^\${1,2}[A-Za-z_][\w.]{0,200}$/;

/** Keys of queries of document stores and search engines under which field names stand as values. */
const SELECTS =
  /^(?:_source|(?:_?source_?)?includes?|fields?|sort|order_?by|group_?by|by|path|key|docvalue_fields|stored_fields|fl|select|columns|project|projection|ProjectionExpression|AttributesToGet|returning)$/;

/** Keys under which such queries name what they read. */
const NAMES =
  /^(?:find|findOne|aggregate|distinct|count|delete|update|insert|findAndModify|mapReduce|create|drop|collection|coll|from|into|ns|_?index|tables?|table_?name|view|dataset|source|resource|entity|bucket|topic|\$lookup|\$out|\$merge|\$unionWith)$/i;

/**
 * Evidence of a JSON value: every leaf is searched with its key as context, and a telling key counts by itself. Keys are searched too, and names of fields where a query
 * selects them. `inner` reads leaves that are queries themselves.
 */
export function jsonEvidence(
  value: unknown,
  policy: TierPolicy,
  recognisers: readonly Recogniser[],
  catalogue: Catalogue,
  inner: (leaf: string) => readonly Evidence[] = () => [],
): Evidence[] {
  const found: Evidence[] = [];
  const known = { policy, recognisers };
  const illnesses: string[] = [];
  const stack: (Member & { readonly value: unknown })[] = [{ value, path: "$", key: "", called: "", around: new Surroundings() }];
  for (let leaves = 0; stack.length > 0 && leaves < MAX_LEAVES; ) {
    const item = stack.pop();
    if (item === undefined) break;
    if (Array.isArray(item.value)) {
      for (let i = item.value.length - 1; i >= 0; i--) stack.push({ ...item, value: item.value[i], path: `${item.path}[${i}]` });
    } else if (typeof item.value === "object" && item.value !== null) {
      const around = new Surroundings(
        withoutMarkers(item.called, known),
        Object.keys(item.value).map((key) => withoutMarkers(key, known)),
      );
      const pairs = pairsOf(item.value);
      for (const [key, child] of Object.entries(item.value).reverse()) {
        found.push(...keyEvidence(key, `${item.path}.${safeName(key)}`, policy, recognisers));
        stack.push({ value: child, path: `${item.path}.${safeName(key)}`, key, called: pairs.nameOf(key) ?? key, around });
      }
    } else if (item.value !== null && item.value !== "" && typeof item.value !== "boolean") {
      leaves++;
      const leaf = String(item.value);
      found.push(...leafEvidence(leaf, item, policy, recognisers), ...inner(leaf));
      if (isHealthName(leaf)) illnesses.push(item.path);
      const names = leaf.split(/[\s,.]+/).map((name) => name.replace(/^[$+-]+/, ""));
      if (SELECTS.test(item.key) || FIELD.test(leaf)) found.push(...namesEvidence(names, item.around.words, policy));
      // `ssn:*`, `salary:[1 TO 2]`
      if (item.key === "query") found.push(...namesEvidence(leaf.match(/[\w.]+(?=:)/g) ?? [], item.around.words, policy));
      if (NAMES.test(item.key) && leaf.length <= MAX_NAME) found.push(...starEvidence(leaf, policy, catalogue));
    }
  }
  // An illness is somebody's where another member says who: the patient stands beside the condition.
  if (illnesses.length > 0 && isOfSomebody(found)) {
    const { tier, tags } = policyOf(policy, "HEALTH_DATA");
    for (const path of illnesses.slice(0, MOST_ILLNESSES))
      found.push({
        entity: "HEALTH_DATA",
        tier,
        tags,
        kind: "name",
        reason: `an illness or drug at ${path} in a record of somebody`,
        path,
      });
  }
  return found;
}

const isOfSomebody = (found: readonly Evidence[]): boolean => found.some(({ entity }) => PERSONAL.has(entity));

/** True for a document of JSON in which something says whose the illnesses are that its members name. */
export const isRecordOfSomebody = (document: unknown, policy: TierPolicy, recognisers: readonly Recogniser[]): boolean =>
  isOfSomebody(jsonEvidence(document, policy, recognisers, () => undefined));

/** What says that a record is about one person. */
const PERSONAL = new Set("PERSON PATIENT_ID DATE_OF_BIRTH NATIONAL_ID US_SSN UK_NHS US_MBI".split(" "));
const MOST_ILLNESSES = 64;

/** A concept has its codings in it. */
const DEEPEST_CONCEPT = 3;

/** What the members of an object say of one another. */
function pairsOf(value: object, depth = 0): Pairs {
  const pairs = new Pairs();
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === "string") pairs.add(key, member);
    else if (isConcept(key) && depth < DEEPEST_CONCEPT)
      for (const inner of (Array.isArray(member) ? member : [member]).slice(0, MOST_CONCEPTS))
        if (typeof inner === "object" && inner !== null) pairs.addConcept(key, pairsOf(inner as object, depth + 1));
  }
  return pairs;
}
const MOST_CONCEPTS = 16;

function keyEvidence(key: string, path: string, policy: TierPolicy, recognisers: readonly Recogniser[]): Evidence[] {
  if (/^[\p{L}_$][\p{L}\p{N}_$-]{0,14}$/u.test(key) && !/\d{5}/.test(key)) return [];
  return recogniseShown(key, recognisers, policy).map((finding) => {
    const { tier, tags } = policyOfFinding(policy, finding);
    return {
      entity: finding.entity,
      tier,
      tags,
      kind: finding.validator === "passed" ? "checksum" : "pattern",
      reason: `a key of the payload is ${finding.entity}`,
      finding,
      path,
    };
  });
}

/** Where a value of JSON stands. */
interface Member {
  readonly path: string;
  readonly key: string;
  /** What it is called by the members beside it, or its key. */
  readonly called: string;
  /** The key above, and the keys of the same object. */
  readonly around: Surroundings;
}

function leafEvidence(
  value: string,
  { called: key, path, around }: Member,
  policy: TierPolicy,
  recognisers: readonly Recogniser[],
): Evidence[] {
  const known = { policy, recognisers };
  const shown = shownOf(value, known);
  const name = shownName(key, known);
  const meaning = shown !== value && !saysSomething(shown) ? {} : meaningOf(name, around);
  const { term, possible } = meaning.term !== undefined && isOtherwise(meaning.term, name, around, [shown]) ? {} : meaning;
  const hints = key === "" ? [] : [wordsOf(key).join(" ")];
  const found: Evidence[] = recogniseShown(value, recognisers, policy, { hints }).map((finding) => {
    const { tier, tags } = policyOfFinding(policy, finding);
    return {
      entity: finding.entity,
      tier,
      tags,
      kind: finding.validator === "passed" ? "checksum" : finding.contextWord === undefined ? "pattern" : "context",
      reason: `${nameOfFinding(finding)} at ${path} (${finding.pattern}${finding.validator === "passed" ? ", check digit passed" : ""})`,
      finding,
      path,
    };
  });
  if (term === undefined) {
    if (possible !== undefined) found.push(mayNameEvidence(policy, `the key at ${path}`, possible.term));
  } else if (term.byValue !== true && !found.some((e) => e.entity === term.entity)) {
    const { tier, tags } = policyOf(policy, term.entity);
    found.push({ entity: term.entity, tier, tags, kind: "name", reason: `the key at ${path} names ${term.term}`, path });
  }
  return found;
}

/** Evidence of rows with a header: every column by name and values. */
export function tableEvidence(
  rows: readonly (readonly string[])[],
  policy: TierPolicy,
  recognisers: readonly Recogniser[],
): Evidence[] {
  const [header = [], ...body] = rows;
  const around = new Surroundings(
    "",
    header.map((name) => withoutMarkers(name, { policy, recognisers })),
  );
  const found: Evidence[] = [];
  for (const [i, name] of header.entries()) {
    const values = body.map((row) => row[i] ?? "");
    found.push(...columnEvidenceOf({ name, values, around }, policy, recognisers).evidence);
  }
  return found;
}

/** Evidence of one column: what it is as a whole, and entities that its values hold. What markers and masks hide is none. */
export function columnEvidenceOf(
  sample: ColumnSample,
  policy: TierPolicy,
  recognisers: readonly Recogniser[],
): { readonly evidence: readonly Evidence[]; readonly verdict: ColumnVerdict | undefined } {
  const known = { policy, recognisers };
  const { name, values = [], around = sample.about } = sample;
  const found: Evidence[] = [];
  const column = safeName(name);
  const shown = shownColumn(sample, known);
  const verdict = shown === undefined ? undefined : classifyColumn(shown);
  if (verdict !== undefined) {
    const { tier, tags } = policyOf(policy, verdict.entity);
    const fitting = verdict.fitting === undefined ? "" : `, ${Math.round(verdict.fitting * 100)} % of the values fit`;
    found.push({
      entity: verdict.entity,
      tier,
      tags,
      kind: "name",
      reason: `column ${column} holds ${verdict.term}${fitting}`,
      column: name,
    });
  }
  const { possible } = verdict === undefined && shown !== undefined ? meaningOf(shown.name, around) : {};
  if (possible !== undefined) found.push(mayNameEvidence(policy, `column ${column}`, possible.term));
  for (const finding of valuesInName(sample.path ?? name, recognisers, policy)) {
    const { tier, tags } = policyOfFinding(policy, finding);
    const kind = finding.validator === "passed" ? "checksum" : "pattern";
    found.push({
      entity: finding.entity,
      tier,
      tags,
      kind,
      reason: `the name of a column is ${nameOfFinding(finding)}`,
      finding,
    });
  }
  const hints = [wordsOf(name).join(" ")];
  const seen = new Set<string>();
  for (const value of values.slice(0, 1000)) {
    for (const finding of recogniseShown(value, recognisers, policy, { hints })) {
      if (seen.has(finding.entity)) continue;
      seen.add(finding.entity);
      const { tier, tags } = policyOfFinding(policy, finding);
      found.push({
        entity: finding.entity,
        tier,
        tags,
        kind: finding.validator === "passed" ? "checksum" : finding.contextWord === undefined ? "pattern" : "context",
        reason: `values of column ${column} hold ${nameOfFinding(finding)} (${finding.pattern})`,
        finding,
        column: name,
      });
    }
  }
  return { evidence: found, verdict };
}
