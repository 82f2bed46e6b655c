import { type ClassifierThreads, openClassifierThreads } from "@seneschal/adapters/classifier-threads";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  type ColumnClassifier,
  classifierInThread,
  classifyColumnValues,
  configuredRecogniser,
  DEFAULT_RECOGNISERS,
  enforceTask,
  type Redactor,
  readLineageSql,
  redactTask,
  type SqlEnforcer,
  type SqlParser,
  type SqlReader,
  type TaskClassifier,
  type TierPolicy,
} from "@seneschal/governance";
import { CodedError } from "@seneschal/kernel";
import type { GovernanceConfig } from "./settings.ts";

/**
 * The configured classifier, in its threads or in this one. Without a parser SQL is read as text. Throws `config_invalid` for a pattern that is not one for
 * `boundedPattern`.
 */
export function openClassifier(
  { threads, deadline, recognisers }: GovernanceConfig["classification"],
  policy: TierPolicy,
  sql: SqlParser | undefined,
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
  if (threads > 0) return openClassifierThreads({ threads, deadline }, { policy, recognisers, sql: sql !== undefined });
  const all = [...DEFAULT_RECOGNISERS, ...configured];
  return {
    ...classifierInThread({ policy, recognisers: all, ...(sql === undefined ? {} : { sql }) }),
    classifyColumn: async (column) => classifyColumnValues(column, policy, all),
    readSql: async (question) => (sql === undefined ? null : readLineageSql(sql, question)),
    reads: async (task) => enforceTask(sql, { sql: task.sql, dialect: task.dialect }),
    enforce: async (task) => enforceTask(sql, task),
    redact: async (task) => redactTask(task, { policy, recognisers: all, crypto: nodeCrypto, random: systemRandom }),
  };
}
