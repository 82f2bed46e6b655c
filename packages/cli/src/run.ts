import { isCoded } from "@seneschal/kernel";
import type { RegoCompileError } from "@seneschal/rego/bundle";
import { Command, CommanderError } from "commander";
import type { CommandContext } from "./command-context.ts";
import { commandsFor } from "./commands/index.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import { renderText } from "./render-text.ts";
import { version } from "./version.ts";

/**
 * Runs one command line and says with which code the process should end. Never throws.
 */
export async function run(argv: readonly string[], host: Host): Promise<ExitCode> {
  let code: ExitCode = exitCode.ok;
  // Asked of the words themselves: help, the version and mistakes are told before the options are parsed.
  const json = argv.includes("--json");
  const program = new Command("seneschal")
    .description("Key governance, data governance, storage administration and quotas")
    .version(version, "--version")
    .option("--json", "write results as JSON")
    .configureOutput({
      writeOut: (text) => host.out(json ? JSON.stringify({ text: text.trimEnd() }) : text.trimEnd()),
      writeErr: (text) => host.err(text.trimEnd()),
    })
    .exitOverride()
    // What stands behind a command is the command's: its options may have any name.
    .enablePositionalOptions()
    .showHelpAfterError("(--help shows what there is)");

  const context: CommandContext = {
    host,
    result(value, text, write = JSON.stringify) {
      host.out(json ? write(value) : (text ?? renderText(value)));
    },
    exit(next) {
      code = next;
    },
  };
  for (const add of await commandsFor(argv)) add(program, context);
  inherit(program);

  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCode.ok;
    code = codeOf(error);
    const told = tell(error);
    // What serves writes JSON lines from its start on, also if there is none.
    if (json || (argv[0] === "serve" && !(error instanceof CommanderError))) host.out(JSON.stringify({ error: told }));
    // Commander has said what is wrong with a command line, with the help that fits.
    else if (!(error instanceof CommanderError)) host.err(`seneschal: ${told.message}`);
  }
  return code;
}

/** Sub-commands answer to `--json`, write and fail as the program does. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    command.option("--json", "write results as JSON");
    inherit(command);
  }
}

const unavailable = [
  "unreachable",
  "address_unusable",
  "outcome_unknown",
  "no_quorum",
  "store_locked",
  "vault_unavailable",
  "token_unavailable",
  "client_protocol",
];

/** By its name: most commands compile no policy, and load no compiler. */
function isCompileError(error: unknown): error is RegoCompileError {
  return (error as { readonly name?: unknown } | undefined)?.name === "RegoCompileError";
}

/** By the status where a server answered, else by what could not be done here. */
function codeOf(error: unknown): ExitCode {
  if (isCompileError(error) || error instanceof CommanderError || isFileError(error)) return exitCode.usage;
  if (!isCoded(error)) return exitCode.unavailable;
  const status = error.details["status"];
  if (status === 401 || status === 403) return exitCode.refused;
  if (typeof status === "number") return status >= 500 ? exitCode.unavailable : exitCode.usage;
  return unavailable.includes(error.code) ? exitCode.unavailable : exitCode.usage;
}

function tell(error: unknown): { readonly code: string; readonly message: string; readonly details?: unknown } {
  if (isCoded(error)) return { code: error.code, message: error.message, details: error.details };
  if (isCompileError(error)) return { code: "policy_invalid", message: error.message, details: error.problems };
  if (error instanceof CommanderError) {
    const message = error.code === "commander.help" ? "a command is missing" : error.message.replace(/^error: /, "");
    return { code: "usage", message };
  }
  if (isFileError(error)) return { code: "file_unusable", message: error.message };
  return { code: "internal", message: error instanceof Error ? error.message : String(error) };
}

const fileCodes = ["EACCES", "EEXIST", "EISDIR", "ENOENT", "ENOTDIR", "EPERM", "EROFS"];

/** What the file system says of a path that was named on the command line or in the configuration. */
function isFileError(error: unknown): error is Error {
  return error instanceof Error && "errno" in error && "code" in error && fileCodes.includes(String(error.code));
}
