import { isCoded } from "@seneschal/core";
import {
  classifyTask,
  configuredRecogniser,
  DEFAULT_RECOGNISERS,
  type RedactionTask,
  readLineageSql,
  redactTask,
} from "@seneschal/core/governance";
import { nodeCrypto } from "../node-crypto/index.ts";
import { openSqlParser } from "../sql-parser/index.ts";
import { systemRandom } from "../system/index.ts";
import { serveTasks, workerSettings } from "../worker-pool/index.ts";
import { readTask, writeAnswer } from "./messages.ts";
import type { ClassifierSettings } from "./open-classifier-threads.ts";

const { policy, recognisers, sql } = workerSettings<ClassifierSettings>();
const parser = sql ? await openSqlParser() : undefined;
const options = {
  policy,
  recognisers: [...DEFAULT_RECOGNISERS, ...recognisers.flatMap((configured) => configuredRecogniser(configured) ?? [])],
  ...(parser === undefined ? {} : { sql: parser }),
};

serveTasks((message: string) => {
  const task = readTask(message);
  if ("sql" in task) return writeAnswer(parser === undefined ? null : readLineageSql(parser, task.sql));
  if ("redact" in task) return redacted(task.redact);
  return writeAnswer(classifyTask(task, options));
});

/** What is wrong with the caller's text is an answer; anything else is a failure of the thread's. */
function redacted(task: RedactionTask): string {
  try {
    return JSON.stringify(
      redactTask(task, { policy, recognisers: options.recognisers, crypto: nodeCrypto, random: systemRandom }),
    );
  } catch (error) {
    if (isCoded(error, "validation_failed")) return JSON.stringify({ refused: error.message });
    throw error;
  }
}
