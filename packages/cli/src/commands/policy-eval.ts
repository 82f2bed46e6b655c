import { CodedError } from "@seneschal/kernel";
import { compile, type ProfiledRow, type Result, writeJson } from "@seneschal/rego/bundle";
import { type Command, Option } from "commander";
import type { CommandContext } from "../command-context.ts";
import { exitCode } from "../exit-code.ts";
import { goDuration } from "../go-duration.ts";
import { type AnswerFormat, answerFormats, formatAnswer } from "../policy/policy-answer.ts";
import { answerOf, askQuery, type QueryAnswer } from "../policy/policy-query.ts";
import { failureText, type InputOptions, inputOf, policyOf, shownSettings, withInput } from "../policy/policy-set.ts";
import { isEntrypoint } from "./policy-entrypoint.ts";
import { type ProfileOptions, showProfile, withProfile } from "./policy-profile.ts";

interface EvalOptions extends InputOptions, ProfileOptions {
  readonly format?: AnswerFormat;
  readonly fail?: boolean;
  readonly failDefined?: boolean;
  readonly strictBuiltinErrors?: boolean;
  readonly timeout?: number;
}

/** `policy eval`: a document, or what a query comes to, with the options and formats of `opa eval`. */
export function addEval(policy: Command, { host, result, exit }: CommandContext): void {
  withProfile(withInput(policy.command("eval").description("a document, or the solutions of a query")))
    .argument("<query>", "for example data.authz.allow, or x := data.authz.roles[_]; x.level > 1")
    .argument("[paths...]", "policies and data files, or directories of them")
    .addOption(new Option("-f, --format <name>", "write the answer as opa eval does").choices(answerFormats))
    .option("--fail", "exit with 1 if the answer is undefined: so it does without, too")
    .option("--fail-defined", "exit with 1 if the answer is defined, and with 0 if it is undefined")
    .option("--strict-builtin-errors", "end the evaluation where a builtin fails, which else makes its call undefined")
    .option("--timeout <time>", "what the evaluation may take, such as 5s; without it what the engine's budgets are", goDuration)
    .action(async (query: string, paths: string[], options: EvalOptions, command: Command) => {
      const { format } = options;
      const profiles = options.profile === true || options.profileSort !== undefined || options.profileLimit !== undefined;
      const isDocument = isEntrypoint(query);
      const wrong = (message: string): CodedError => new CodedError("usage", message);
      if (options.fail === true && options.failDefined === true) throw wrong("--fail and --fail-defined exclude each other");
      if (format !== undefined && command.optsWithGlobals()["json"] === true)
        throw wrong("--json and --format exclude each other");
      if (profiles && !isDocument) throw wrong("--profile is of a document, such as data.authz.allow, and of no other query");
      if (profiles && format !== undefined) throw wrong("--profile and --format exclude each other");
      // a document without a policy is a forgotten file, a query may need none
      const { sources, data, options: how } = await policyOf(host, paths, options, isDocument ? "required" : "optional");
      const compiled = compile(sources, how);
      const input = await inputOf(host, options);
      const budgets = options.timeout === undefined ? {} : { budgets: { milliseconds: options.timeout } };
      const given = { ...shownSettings(host, data), ...budgets, strict: options.strictBuiltinErrors === true };
      let kind: QueryAnswer["kind"];
      if (profiles) {
        const { result: answer, rows } = compiled.profile(query, input, given);
        tellDocument(answer, rows);
        kind = answer.kind;
      } else if (isDocument && format === undefined) {
        const answer = compiled.evaluate(query, input, given);
        tellDocument(answer);
        kind = answer.kind;
      } else {
        const answer = isDocument
          ? answerOf(query, compiled.evaluate(query, input, given))
          : askQuery(compiled, query, input, given);
        const text = formatAnswer(answer, format ?? "pretty");
        if (text !== "") result(answer, text, writeJson);
        kind = answer.kind;
      }
      const bad = options.failDefined === true ? kind !== "undefined" : kind !== "defined";
      if (bad) exit(exitCode.no);

      function tellDocument(answer: Result, rows?: readonly ProfiledRow[]): void {
        const profile = rows === undefined ? undefined : showProfile(rows, options);
        const value = { ...answer, ...(profile === undefined ? {} : { profile: profile.value }) };
        result(value, [documentText(answer), ...(profile?.lines ?? [])].join("\n"), writeJson);
      }
    });
}

/** A document, `undefined`, or why there is none. */
export function documentText(answer: Result): string {
  if (answer.kind === "defined") return writeJson(answer.value, 2);
  return answer.kind === "undefined" ? "undefined" : failureText(answer);
}
