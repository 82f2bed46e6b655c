/** What a command may touch of the machine it runs on; tests bring their own. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** One line of result. */
  out(line: string): void;
  /** One line for the person, never parsed. */
  err(line: string): void;
  /** All of standard input. */
  stdin(): Promise<string>;
  /** The lines of standard input as they come; a terminal shows `prompt` before each and keeps a history. */
  readLines(prompt: () => string): AsyncIterable<string>;
  /** Asks without echo. */
  askSecret(question: string): Promise<string>;
  /** Resolves when the process is told to end. */
  readonly interrupted: Promise<void>;
  /** Ends the process in so many milliseconds, unless it has ended by then; `late` is called before, with what keeps it. */
  endWithin(ms: number, late: (open: readonly string[]) => void): void;
  /** Calls back each time the process is told to take its files in anew. */
  onHangup(callback: () => void): void;
  /** Tells who started the process that it serves. */
  tellReady(): Promise<void>;
  /** Shows progress in place; does nothing where standard error is no terminal. */
  progress(text: string): void;
}
