import { CodedError } from "@seneschal/kernel";
import type * as z from "zod";

/**
 * Settings as a service works with them: checked as a whole, defaults filled in. Throws `config_invalid` naming every setting that is wrong, unknown or
 * missing, beside what was found before (`problems`). Values never appear in the error.
 */
export function parseSettings<Schema extends z.ZodObject>(
  schema: Schema,
  given: unknown,
  problems: readonly string[] = [],
): z.output<Schema> {
  const result = schema.strict().safeParse(given);
  const all = [...problems, ...(result.error?.issues ?? []).flatMap(problemsOf)];
  if (all.length > 0 || !result.success)
    throw new CodedError("config_invalid", `the configuration is invalid: ${all.join("; ")}`, { problems: all });
  return result.data as z.output<Schema>;
}

function problemsOf(issue: z.core.$ZodIssue): readonly string[] {
  const at = issue.path.join(".");
  if (issue.code !== "unrecognized_keys") return [at === "" ? issue.message : `${at}: ${issue.message}`];
  return issue.keys.map((key) => `${at === "" ? key : `${at}.${key}`}: unknown setting`);
}
