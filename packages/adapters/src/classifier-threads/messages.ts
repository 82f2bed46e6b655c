import type { ClassificationAnswer, ClassificationTask } from "@seneschal/core/governance";

/** Tasks travel as JSON: for small ones that takes half the time of a structured clone. Throws what `JSON.stringify` does. */
export function writeTask({ query, context, tables }: ClassificationTask): string {
  return JSON.stringify(tables === undefined ? { query, context } : { query, context, tables: [...tables] });
}

/** The task of a message. */
export function readTask(message: string): ClassificationTask {
  type Written = Omit<ClassificationTask, "tables"> & { readonly tables?: Iterable<readonly [string, object]> };
  const { query, context, tables } = JSON.parse(message) as Written;
  return tables === undefined ? { query, context } : { query, context, tables: new Map(tables) };
}

/** What a thread answers to a task. */
export function writeAnswer(answer: ClassificationAnswer): string {
  return JSON.stringify(answer);
}

/** The answer of a message. */
export function readAnswer(message: string): ClassificationAnswer {
  return JSON.parse(message) as ClassificationAnswer;
}
