import {
  classifyColumnValues,
  classifyTask,
  configuredRecogniser,
  DEFAULT_RECOGNISERS,
  enforceTask,
  readLineageSql,
  redactTask,
  withHeard,
} from "@seneschal/governance";
import { isCoded } from "@seneschal/kernel";
import { nodeCrypto } from "../node-crypto/index.ts";
import { openSqlParser } from "../sql-parser/index.ts";
import { systemRandom } from "../system/index.ts";
import { serveTasks, workerSettings } from "../worker-pool/index.ts";
import { type Refusal, readTask, writeAnswer } from "./messages.ts";
import type { ClassifierSettings } from "./open-classifier-threads.ts";

const { policy, recognisers, sql } = workerSettings<ClassifierSettings>();
const parser = sql ? await openSqlParser() : undefined;
const all = [...DEFAULT_RECOGNISERS, ...recognisers.flatMap((configured) => configuredRecogniser(configured) ?? [])];
const options = { policy, ...(parser === undefined ? {} : { sql: parser }) };

const redaction = { policy, crypto: nodeCrypto, random: systemRandom };

serveTasks((message: string) => {
  const task = readTask(message);
  const { recognised } = task;
  if ("sql" in task) return writeAnswer(parser === undefined ? null : readLineageSql(parser, task.sql));
  if ("redact" in task)
    return answered(() =>
      withHeard(recognised, all, (recognisers) => redactTask(task.redact, Object.assign({ recognisers }, redaction))),
    );
  if ("enforce" in task) return answered(() => enforceTask(parser, task.enforce));
  if ("column" in task)
    return JSON.stringify(withHeard(recognised, all, (recognisers) => classifyColumnValues(task.column, policy, recognisers)));
  return writeAnswer(withHeard(recognised, all, (recognisers) => classifyTask(task, { ...options, recognisers })));
});

/** What is wrong with the caller's text is an answer; anything else is a failure of the thread's. */
function answered(work: () => object): string {
  try {
    return JSON.stringify(work());
  } catch (error) {
    if (!isCoded(error, "validation_failed", "service_unavailable")) throw error;
    const { code, message, details } = error;
    return JSON.stringify({ refused: { code, message, details } } satisfies Refusal);
  }
}
