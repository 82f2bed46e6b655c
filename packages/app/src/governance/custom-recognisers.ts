import { CodedError } from "@seneschal/core";
import { boundedPattern, type Recogniser } from "@seneschal/core/governance";
import type { GovernanceConfig } from "./settings.ts";

/** Recognisers from the configuration. Throws `config_invalid` for a pattern that is not one for {@link boundedPattern}. */
export function customRecognisers(settings: GovernanceConfig["classification"]["recognisers"]): Recogniser[] {
  return settings.map(({ entity, pattern, score, context, country }, i) => {
    const regex = boundedPattern(pattern);
    if (regex === undefined)
      throw new CodedError(
        "config_invalid",
        `classification.recognisers.${i}.pattern: not a bounded RE2 expression that matches a text`,
      );
    return {
      entity,
      patterns: [{ name: "configured", regex, score }],
      context: context.map((word) => word.toLowerCase()),
      ...(country === undefined ? {} : { country }),
    };
  });
}
