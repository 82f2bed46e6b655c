import { InvalidArgumentError } from "commander";

/** A non-negative whole number on the command line. */
export function wholeNumber(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number");
  return Number(text);
}

/** The same from one on. */
export function countingNumber(text: string): number {
  const count = wholeNumber(text);
  if (count === 0) throw new InvalidArgumentError("expected a whole number from 1 on");
  return count;
}
