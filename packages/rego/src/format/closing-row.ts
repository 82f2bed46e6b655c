/** Where a node stands: its row, and its text in the source. */
export interface Place {
  readonly row: number;
  readonly text: string;
}

/**
 * The row of the bracket that closes the first `open` in the text, -1 if there is none: comments before it belong inside. Brackets in
 * strings count, as they do for `opa fmt`. `skip` passes over a first pair of other brackets, those of a rule's head.
 */
export function closingRow({ row, text }: Place, open: string, close: string, skip?: readonly [string, string]): number {
  let from = 0;
  let rows = 0;
  if (skip !== undefined) {
    const past = balance(text, skip[0], skip[1], 0);
    from = past.at;
    rows = past.rows;
  }
  const found = balance(text, open, close, from);
  return found.closed ? row + rows + found.rows : -1;
}

/** Goes from the first `open` at or after `from` to its `close`; rows before `open` do not count, as for `opa fmt`. */
function balance(text: string, open: string, close: string, from: number) {
  const start = text.indexOf(open, from);
  let depth = 1;
  let rows = 0;
  for (let at = start; start >= 0 && ++at < text.length; ) {
    const c = text[at];
    if (c === open) depth++;
    else if (c === close) depth--;
    else if (c === "\n") rows++;
    if (depth === 0) return { at, rows, closed: true };
  }
  return { at: text.length, rows, closed: false };
}
