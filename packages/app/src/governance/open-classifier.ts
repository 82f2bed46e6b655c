import { type ClassifierThreads, openClassifierThreads } from "@seneschal/adapters/classifier-threads";
import { CodedError } from "@seneschal/core";
import {
  classifierInThread,
  configuredRecogniser,
  DEFAULT_RECOGNISERS,
  readLineageSql,
  type SqlParser,
  type SqlReader,
  type TaskClassifier,
  type TierPolicy,
} from "@seneschal/core/governance";
import type { GovernanceConfig } from "./settings.ts";

/**
 * The configured classifier, in its threads or in this one. Without a parser SQL is read as text. Throws `config_invalid` for a pattern that is not one for
 * `boundedPattern`.
 */
export function openClassifier(
  { threads, deadline, recognisers }: GovernanceConfig["classification"],
  policy: TierPolicy,
  sql: SqlParser | undefined,
): TaskClassifier & SqlReader & Partial<Pick<ClassifierThreads, "state">> {
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
  const inThread = classifierInThread({
    policy,
    recognisers: [...DEFAULT_RECOGNISERS, ...configured],
    ...(sql === undefined ? {} : { sql }),
  });
  return { ...inThread, readSql: async (question) => (sql === undefined ? null : readLineageSql(sql, question)) };
}
