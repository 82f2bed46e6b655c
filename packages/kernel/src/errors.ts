/**
 * A failure with a code from a closed catalogue and the data to act on it. Decisions ("the answer is no") are values;
 * this is for what could not be done. Every package has its own union of codes and uses this one class.
 *
 * @example
 * ```ts
 * import { CodedError } from "@seneschal/kernel";
 * const error = new CodedError("not_found", "no such workspace", { id: "w1" });
 * console.log(error.code, error.details); // not_found { id: 'w1' }
 * ```
 */
export class CodedError<Code extends string = string> extends Error {
  override readonly name = "CodedError";
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

/** True for a {@link CodedError}, optionally with one of the given codes; works across copies of the class. */
export function isCoded<Code extends string>(error: unknown, ...codes: readonly Code[]): error is CodedError<Code> {
  if (!(error instanceof Error) || error.name !== "CodedError") return false;
  return codes.length === 0 || (codes as readonly string[]).includes((error as CodedError).code);
}
