import { configuredRecogniser, DEFAULT_RECOGNISERS, withHeard } from "@seneschal/governance";
import type { ClassifierSettings } from "../classifier-threads/index.ts";
import { nodeCrypto } from "../node-crypto/index.ts";
import { systemRandom } from "../system/index.ts";
import { serveTasks, workerSettings } from "../worker-pool/index.ts";
import type { AskedTask } from "./open-file-threads.ts";
import { refusalOf, runFileTask } from "./run-file-task.ts";

const { policy, recognisers } = workerSettings<ClassifierSettings>();
const given = {
  policy,
  recognisers: [...DEFAULT_RECOGNISERS, ...recognisers.flatMap((configured) => configuredRecogniser(configured) ?? [])],
  crypto: nodeCrypto,
  random: systemRandom,
};

serveTasks(({ task, recognised }: AskedTask) =>
  withHeard(recognised, given.recognisers, (recognisers) => runFileTask(task, { ...given, recognisers })).catch(
    (error: unknown) => refusalOf(error, given.recognisers),
  ),
);
