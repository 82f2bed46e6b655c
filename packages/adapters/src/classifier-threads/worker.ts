import { parentPort, workerData } from "node:worker_threads";
import { type ClassificationTask, classifyTask, configuredRecogniser, DEFAULT_RECOGNISERS } from "@seneschal/core/governance";
import { openSqlParser } from "../sql-parser/index.ts";
import { type Outcome, readTasks, writeOutcomes } from "./messages.ts";
import type { ClassifierSettings } from "./open-classifier-threads.ts";

const { policy, recognisers, sql } = workerData as ClassifierSettings;
const options = {
  policy,
  recognisers: [...DEFAULT_RECOGNISERS, ...recognisers.flatMap((configured) => configuredRecogniser(configured) ?? [])],
  ...(sql ? { sql: await openSqlParser() } : {}),
};

parentPort?.on("message", (tasks: string) => parentPort?.postMessage(writeOutcomes(readTasks(tasks).map(outcomeOf))));

function outcomeOf(task: ClassificationTask): Outcome {
  try {
    return { answer: classifyTask(task, options) };
  } catch (error) {
    // An error's class and code do not cross from a thread.
    return { failure: error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error) };
  }
}
