import type { AddCommand } from "./add-command.ts";
import { addCompletion } from "./completion.ts";

/** Every command, in the order that `--help` shows. */
export const commands: readonly AddCommand[] = [addCompletion];
