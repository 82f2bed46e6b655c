import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import { PolicySession, type SessionAnswer } from "../policy-session.ts";
import { type InputOptions, inputOf, policyOf, settings, withInput } from "../policy-set.ts";

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
        settings: () => settings(data),
      });
      for await (const line of host.readLines(() => (session.open ? "| " : "> "))) {
        const answer = session.enter(line);
        if (answer.kind === "end") break;
        if (answer.kind !== "more" && answer.kind !== "nothing") result(answer, textOf(answer));
      }
    });
}

function textOf(answer: SessionAnswer): string {
  switch (answer.kind) {
    case "value":
      return JSON.stringify(answer.value, null, 2);
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

function tableOf(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = Object.keys(rows[0] ?? {}).sort((a, b) => Number(a === "value") - Number(b === "value"));
  const cells = [names, ...rows.map((row) => names.map((name) => JSON.stringify(row[name])))];
  const widths = names.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => "-".repeat(width)).join("  "), ...lines.slice(1)].join("\n");
}
