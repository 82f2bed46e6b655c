import { classifyTask, configuredRecogniser, DEFAULT_RECOGNISERS } from "@seneschal/core/governance";
import { openSqlParser } from "../sql-parser/index.ts";
import { serveTasks, workerSettings } from "../worker-pool/index.ts";
import { readTask, writeAnswer } from "./messages.ts";
import type { ClassifierSettings } from "./open-classifier-threads.ts";

const { policy, recognisers, sql } = workerSettings<ClassifierSettings>();
const options = {
  policy,
  recognisers: [...DEFAULT_RECOGNISERS, ...recognisers.flatMap((configured) => configuredRecogniser(configured) ?? [])],
  ...(sql ? { sql: await openSqlParser() } : {}),
};

serveTasks((task: string) => writeAnswer(classifyTask(readTask(task), options)));
