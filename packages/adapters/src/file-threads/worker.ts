import { configuredRecogniser, DEFAULT_RECOGNISERS } from "@seneschal/governance";
import type { ClassifierSettings } from "../classifier-threads/index.ts";
import { nodeCrypto } from "../node-crypto/index.ts";
import { systemRandom } from "../system/index.ts";
import { serveTasks, workerSettings } from "../worker-pool/index.ts";
import { type FileTask, refusalOf, runFileTask } from "./run-file-task.ts";

const { policy, recognisers } = workerSettings<ClassifierSettings>();
const given = {
  policy,
  recognisers: [...DEFAULT_RECOGNISERS, ...recognisers.flatMap((configured) => configuredRecogniser(configured) ?? [])],
  crypto: nodeCrypto,
  random: systemRandom,
};

serveTasks((task: FileTask) => runFileTask(task, given).catch((error) => refusalOf(error, given.recognisers)));
