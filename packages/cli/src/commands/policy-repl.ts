import { writeJson } from "@seneschal/rego/bundle";
import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { tableOf } from "../policy/policy-answer.ts";
import { PolicySession, type SessionAnswer } from "../policy/policy-session.ts";
import { type InputOptions, inputOf, policyOf, shownSettings, withInput } from "../policy/policy-set.ts";

/** `policy repl`: rules and queries line by line; under `--json` an answer is a line of JSON. */
export function addRepl(policy: Command, { host, result }: CommandContext): void {
  withInput(
    policy
      .command("repl")
      .alias("run")
      .description("rules and queries line by line, on the policies that are named; help tells the words"),
  )
    .argument("[paths...]", ".rego files or directories")
    .action(async (paths: string[], options: InputOptions) => {
      const { sources, data, options: how } = await policyOf(host, paths, options, "optional");
      const session = new PolicySession({
        sources,
        options: how,
        input: await inputOf(host, options),
        settings: () => shownSettings(host, data),
      });
      for await (const line of host.readLines(() => (session.open ? "| " : "> "))) {
        const answer = session.enter(line);
        if (answer.kind === "end") break;
        if (answer.kind !== "more" && answer.kind !== "nothing") result(answer, textOf(answer), writeJson);
      }
    });
}

function textOf(answer: SessionAnswer): string {
  switch (answer.kind) {
    case "value":
      return writeJson(answer.value, 2);
    case "rows":
      return tableOf(answer.rows);
    case "told":
      return answer.text;
    case "error":
      return answer.message;
    default:
      return answer.kind;
  }
}
