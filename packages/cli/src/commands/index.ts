import type { AddCommand } from "./add-command.ts";
import { addCompletion } from "./completion.ts";
import { addConfig } from "./config.ts";
import { addDev } from "./dev.ts";
import { addInit } from "./init.ts";
import { addServe } from "./serve.ts";

/** Every command, in the order that `--help` shows. */
export const commands: readonly AddCommand[] = [addInit, addServe, addDev, addConfig, addCompletion];
