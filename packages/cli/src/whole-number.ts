import { InvalidArgumentError } from "commander";

/** A non-negative whole number on the command line. */
export function wholeNumber(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number");
  return Number(text);
}
