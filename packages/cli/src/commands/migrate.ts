import { abortMigration, type MigratedPart, migrate } from "@seneschal/app";
import { bringShares } from "../custody/bring-shares.ts";
import { readConfig } from "../read-config.ts";
import type { AddCommand } from "./add-command.ts";

/** `seneschal migrate`: what the services of a configuration keep goes to where another configuration keeps it. */
export const addMigrate: AddCommand = (program, { host, result }) => {
  program
    .command("migrate")
    .description(
      "move the stores, logs and vault keys of stopped services to where another configuration has them; run it again when it was cut off",
    )
    .requiredOption("--to <file>", "the configuration that is to hold from then on")
    .option("-c, --config <file>", "the configuration that holds now, YAML or JSON")
    .option("--set <path=value...>", "a setting by its path, of both")
    .option("--abort", "undo what is not complete: empty the new place, and let the old one serve again")
    .action(async (options: { to: string; config?: string; set?: string[]; abort?: boolean }) => {
      const [now, next] = [await readConfig(host, options), await readConfig(host, { ...options, config: options.to })];
      const running = options.abort
        ? abortMigration(now, next)
        : migrate(now, next, {
            bring: bringShares(host),
            progress: ({ service, what }, table, rows) => host.progress(`${service} ${what}: ${table} ${rows}`),
          });
      const parts = await running.finally(() => host.progress(""));
      result({ parts }, parts.map(textOf).join("\n"));
    });
};

const ends: Readonly<Record<MigratedPart["state"], string>> = {
  moved: "moved and found equal",
  was_moved: "was moved before",
  aborted: "not moved: the new place is empty, the old one serves again",
  not_aborted: "nothing was unfinished",
};

function textOf({ service, what, from, to, state, tables = {}, keys }: MigratedPart): string {
  const counts = Object.entries(tables).map(
    ([name, { rows, root }]) => `  ${name.padEnd(10)} ${String(rows).padStart(10)}  ${root}`,
  );
  const opened =
    keys === undefined ? [] : [`  ${keys.keys} keys, ${keys.versions} versions: each opened there what was sealed here`];
  return [`${service} ${what}: ${from} -> ${to}: ${ends[state]}`, ...counts, ...opened].join("\n");
}
