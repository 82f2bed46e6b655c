import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";

/** Adds one command, or one family of them, to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void;
