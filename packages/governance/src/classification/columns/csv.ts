import { checkArgument } from "@seneschal/kernel";

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Splits CSV (RFC 4180) that comes in pieces into rows of cells: quotes hold delimiters, doubled quotes and line breaks; CR, LF and CRLF end a row; a quote
 * inside an unquoted cell is a character. Holds one row.
 */
export class CsvSplitter {
  readonly #delimiter: number;
  #row: string[] = [];
  #cell = "";
  #state: "start" | "plain" | "quoted" | "quote in quoted" = "start";
  #afterCr = false;
  #pending = 0;

  /** `delimiter`: one character. */
  constructor(delimiter: string) {
    checkArgument("delimiter", delimiter, "string");
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** Characters of the row that is not complete yet. */
  get pending(): number {
    return this.#pending;
  }

  /** A quote was opened and not closed. */
  get open(): boolean {
    return this.#state === "quoted";
  }

  /** Rows that the piece completes. */
  push(text: string): string[][] {
    const rows: string[][] = [];
    let from = 0;
    let begun = 0;
    const take = (to: number) => {
      this.#cell += text.slice(from, to);
      from = to + 1;
    };
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (this.#afterCr) {
        this.#afterCr = false;
        if (c === LF) {
          from = begun = i + 1;
          continue;
        }
      }
      if (this.#state === "quoted") {
        if (c !== QUOTE) continue;
        take(i);
        this.#state = "quote in quoted";
        continue;
      }
      if (c === QUOTE && this.#state === "quote in quoted") {
        this.#cell += '"';
        from = i + 1;
        this.#state = "quoted";
      } else if (c === QUOTE && this.#state === "start") {
        from = i + 1;
        this.#state = "quoted";
      } else if (c === this.#delimiter || c === LF || c === CR) {
        take(i);
        this.#row.push(this.#cell);
        this.#cell = "";
        this.#state = "start";
        if (c === this.#delimiter) continue;
        rows.push(this.#row);
        this.#row = [];
        this.#afterCr = c === CR;
        this.#pending = 0;
        begun = i + 1;
      } else if (this.#state !== "plain") this.#state = "plain";
    }
    take(text.length);
    this.#pending += text.length - begun;
    return rows;
  }

  /** The last row, if the text does not end with a line break. */
  end(): string[][] {
    if (this.#row.length === 0 && this.#cell === "" && this.#state === "start") return [];
    return [[...this.#row, this.#cell]];
  }
}

/** Splits a whole CSV text into rows of cells. */
export function csvRows(text: string, delimiter: string): string[][] {
  const splitter = new CsvSplitter(delimiter);
  return [...splitter.push(text), ...splitter.end()];
}
