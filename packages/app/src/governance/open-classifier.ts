import { type ClassifierThreads, openClassifierThreads } from "@seneschal/adapters/classifier-threads";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  type ColumnClassifier,
  classifyColumnValues,
  classifyTask,
  configuredRecogniser,
  DEFAULT_RECOGNISERS,
  enforceTask,
  heard,
  type Recogniser,
  type Redactor,
  readLineageSql,
  redactTask,
  type SqlEnforcer,
  type SqlParser,
  type SqlReader,
  type TaskClassifier,
  type TierPolicy,
  withHeard,
} from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";
import type { EntityRecogniser } from "@seneschal/kernel/ports";
import type { GovernanceConfig } from "./settings.ts";

/**
 * The configured classifier, in its threads or in this one. Without a parser SQL is read as text. Throws `config_invalid` for a pattern that is not one for
 * `boundedPattern`.
 */
export function openClassifier(
  { threads, deadline, recognisers }: GovernanceConfig["classification"],
  policy: TierPolicy,
  sql: SqlParser | undefined,
  recogniser: EntityRecogniser | undefined,
): TaskClassifier & ColumnClassifier & SqlReader & SqlEnforcer & Redactor & Partial<Pick<ClassifierThreads, "state">> {
  const configured = recognisers.map((recogniser, i) => {
    const built = configuredRecogniser(recogniser);
    if (built === undefined)
      throw new CodedError(
        "config_invalid",
        `classification.recognisers.${i}.pattern: not a bounded RE2 expression that matches a text`,
      );
    return built;
  });
  if (threads > 0)
    return openClassifierThreads({ threads, deadline }, { policy, recognisers, sql: sql !== undefined }, recogniser);
  const all = [...DEFAULT_RECOGNISERS, ...configured];
  const options = { policy, ...(sql === undefined ? {} : { sql }) };
  const searched = <Done extends object>(owner: string, work: (recognisers: readonly Recogniser[]) => Done): Promise<Done> =>
    heard<Done>(recogniser, owner, async (recognised) => withHeard(recognised, all, work));
  return {
    answer: (task, owner) => searched(owner, (recognisers) => classifyTask(task, { ...options, recognisers })),
    classifyColumn: (column, owner) => searched(owner, (recognisers) => classifyColumnValues(column, policy, recognisers)),
    readSql: async (question) => (sql === undefined ? null : readLineageSql(sql, question)),
    reads: async (task) => enforceTask(sql, { sql: task.sql, dialect: task.dialect }),
    enforce: async (task) => enforceTask(sql, task),
    redact: (task, owner) =>
      searched(owner, (recognisers) => redactTask(task, { policy, recognisers, crypto: nodeCrypto, random: systemRandom })),
    close: async () => undefined,
  };
}
