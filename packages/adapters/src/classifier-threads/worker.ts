import { classifyTask, configuredRecogniser, DEFAULT_RECOGNISERS, readLineageSql } from "@seneschal/core/governance";
import { openSqlParser } from "../sql-parser/index.ts";
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
  return writeAnswer(classifyTask(task, options));
});
