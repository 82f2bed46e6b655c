import type { JsonObject } from "@seneschal/kernel";
import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { SchemaOf } from "../sql/types.ts";
import { type ClassificationResult, type ClassifierOptions, checkDialect, checkLength, createClassifier } from "./classifier.ts";
import type { Catalogue, KnownResource } from "./code/sql-evidence.ts";
import { DEFAULT_RECOGNISERS } from "./recognisers/index.ts";
import { type Narrowing, narrowed } from "./search/narrowed.ts";

/** What is known of a table that a text names; empty when nothing is. */
export interface TableFacts {
  readonly resource?: KnownResource;
  readonly columns?: readonly string[];
}

/** Look-ups in a row, a few microseconds each. */
const LOOKUPS = 500;

/** Findings that an answer tells, the first of a text. */
const MAX_FINDINGS = 8192;

/** A text to classify away from the catalogue: plain data, so that it can be sent. */
export interface ClassificationTask {
  readonly query: string;
  readonly context: JsonObject;
  /** By the names that texts use; absent when no table at all is known. */
  readonly tables?: ReadonlyMap<string, TableFacts>;
  /** What the caller asks for, where that is not all. */
  readonly narrowing?: Narrowing;
}

/** The result, or the tables that something has to be said of first. */
export type ClassificationAnswer = { readonly result: ClassificationResult } | { readonly unknown: readonly string[] };

/** Where tasks are done: in this thread or beside it. */
export interface TaskClassifier {
  /**
   * Rejects with `classification_failed` for an inner fault, and with `service_unavailable` when `owner`, whose budget the task is charged to, has too many waiting. What takes
   * too long is of the highest tier.
   */
  answer(task: ClassificationTask, owner: string): Promise<ClassificationAnswer>;
  close(): Promise<void>;
}

/**
 * Classifies a text by what its task says of tables, or asks for the tables that it does not speak of. Throws as {@link createClassifier} does.
 *
 * @example
 * ```ts
 * import { classifyTask } from "@seneschal/governance";
 * const answer = classifyTask({ query: "my ssn is 536-22-8726", context: {} });
 * console.log("result" in answer && answer.result.tier); // PROPRIETARY
 * ```
 */
export function classifyTask(
  task: ClassificationTask,
  options: Omit<ClassifierOptions, "catalogue" | "schemaOf"> = {},
): ClassificationAnswer {
  checkOptions("options", options, { policy: "object?", recognisers: "array?", sql: "object?" });
  checkArgument("task", task, "object");
  const { query, context, tables, narrowing } = task;
  const unknown = new Set<string>();
  const factsOf = (table: string): TableFacts | undefined => {
    const facts = tables?.get(table);
    if (tables !== undefined && facts === undefined) unknown.add(table);
    return facts;
  };
  const catalogue: Catalogue = (table) => factsOf(table)?.resource;
  const schemaOf: SchemaOf = (table) => factsOf(table)?.columns;
  const known = tables === undefined ? {} : { catalogue, schemaOf };
  const asked = narrowing === undefined ? {} : { recognisers: narrowed(options.recognisers ?? DEFAULT_RECOGNISERS, narrowing) };
  const classifier = createClassifier(Object.assign({}, options, known, asked));
  const result = classifier.classify(query, context);
  return unknown.size === 0 ? { result: told(result) } : { unknown: [...unknown] };
}

/** An answer is read and written by the thread that serves: it has a bound. */
function told(result: ClassificationResult): ClassificationResult {
  const omitted = result.findings.length - MAX_FINDINGS;
  return omitted > 0 ? { ...result, findings: result.findings.slice(0, MAX_FINDINGS), findings_omitted: omitted } : result;
}

/** Does tasks in the calling thread, which waits for them. */
export function classifierInThread(options: Omit<ClassifierOptions, "catalogue" | "schemaOf"> = {}): TaskClassifier {
  checkOptions("options", options, { policy: "object?", recognisers: "array?", sql: "object?" });
  return { answer: async (task) => classifyTask(task, options), close: async () => undefined };
}

/**
 * Classifies a text and tells `classifier` what `factsOf` knows of the tables it asks for; without `factsOf` no table is known. Rejects with
 * `validation_failed` for a text that is too long or a dialect that nobody knows, else as `classifier` does. A text may name thousands of tables, and a pattern is compared with all: `pause` lets others of the
 * thread go on between.
 */
export async function classifyWith(
  classifier: TaskClassifier,
  query: string,
  context: JsonObject,
  factsOf: ((table: string) => TableFacts) | undefined,
  owner: string,
  pause: () => Promise<void> = async () => undefined,
  narrowing?: Narrowing,
): Promise<ClassificationResult> {
  checkLength(query);
  checkDialect(context);
  const tables = factsOf === undefined ? undefined : new Map<string, TableFacts>();
  for (;;) {
    const known = tables === undefined ? {} : { tables };
    const answer = await classifier.answer(
      { query, context, ...known, ...(narrowing === undefined ? {} : { narrowing }) },
      owner,
    );
    if ("result" in answer) return answer.result;
    for (const [i, table] of answer.unknown.entries()) {
      tables?.set(table, factsOf?.(table) ?? {});
      if (i % LOOKUPS === LOOKUPS - 1 || table.includes("*")) await pause();
    }
  }
}
