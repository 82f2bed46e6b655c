import { type ChildProcess, spawn } from "node:child_process";
import { sourceCommand } from "../../../../tools/source-options.ts";

/** What Node is given to run a command of a checkout. */
export function commandOf(args: readonly string[], checkout?: string): readonly string[] {
  return [...sourceCommand(new URL("../../src/main.ts", import.meta.url), checkout), ...args];
}

/** `seneschal serve` of a checkout in a process of its own, from when it listens on. `children` has it from the beginning. */
export async function startServe(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  children: Set<ChildProcess>,
  checkout?: string,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, commandOf(args, checkout), { env, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const hear = (bytes: Buffer): void => {
      said = `${said}${bytes}`.slice(-4000);
      if (said.includes('"services"')) resolve();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("close", (code) => reject(new Error(`seneschal ${args[0]} ended with ${code}: ${said}`)));
  });
  return child;
}

/** Ends a process, and waits until it has. */
export async function endProcess(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}
