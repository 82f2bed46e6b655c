/** What a command ends with. Scripts may rely on it. */
export const exitCode = {
  ok: 0,
  /** The answer is no: a check failed, a policy denies, a log does not verify. */
  no: 1,
  /** The command line or a file it names is wrong. */
  usage: 2,
  /** The server could not be reached, or answered with an error of its own. */
  unavailable: 3,
  /** The server refused: unauthenticated or forbidden. */
  refused: 4,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
