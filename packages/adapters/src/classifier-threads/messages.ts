import type { ClassificationAnswer, ClassificationTask } from "@seneschal/core/governance";

/** What a thread makes of one task. */
export type Outcome = { readonly answer: ClassificationAnswer } | { readonly failure: string };

/** Messages are JSON: for small ones that takes half the time of a structured clone. Throws what `JSON.stringify` does. */
export function writeTasks(tasks: readonly ClassificationTask[]): string {
  return JSON.stringify(
    tasks.map(({ query, context, tables }) =>
      tables === undefined ? { query, context } : { query, context, tables: [...tables] },
    ),
  );
}

/** The tasks of a message. */
export function readTasks(message: string): readonly ClassificationTask[] {
  type Written = Omit<ClassificationTask, "tables"> & { readonly tables?: Iterable<readonly [string, object]> };
  return (JSON.parse(message) as readonly Written[]).map(({ query, context, tables }) =>
    tables === undefined ? { query, context } : { query, context, tables: new Map(tables) },
  );
}

/** What a thread answers to a message of tasks, in their order. */
export function writeOutcomes(outcomes: readonly Outcome[]): string {
  return JSON.stringify(outcomes);
}

/** The outcomes of a message. */
export function readOutcomes(message: string): readonly Outcome[] {
  return JSON.parse(message) as readonly Outcome[];
}
