/** One operation as its client saw it: the time it was first asked and the time it was answered, on one clock. */
export interface Operation {
  readonly name: string;
  readonly asked: number;
  readonly answered: number;
  /** A write: the position of its command in the log. */
  readonly position?: number;
  /** An observation: the least position from `from` on after which the state was as observed; undefined when there is none. */
  readonly observedFrom?: (from: number) => number | undefined;
}

/**
 * Looks for a linearization of a history whose writes are ordered by a log: a place for each operation such that what was
 * answered before another was asked comes before it, writes stand where the log has them, and observations stand where
 * they are true. The log leaves no choice for writes, and the least place is the best one for an observation, so one
 * sweep decides. Gives the names of operations that have no place; none: the history is linearizable.
 *
 * Source: Herlihy and Wing, "Linearizability", 1990; with the order of writes known the search is linear.
 */
export function findLinearization(operations: readonly Operation[]): readonly string[] {
  const byAsked = [...operations].sort((a, b) => a.asked - b.asked);
  const byAnswer = [...operations].sort((a, b) => a.answered - b.answered);
  const places = new Map<Operation, number>();
  const misplaced: string[] = [];
  let latest = 0;
  let next = 0;
  for (const operation of byAsked) {
    for (let done = byAnswer[next]; done !== undefined && done.answered < operation.asked; done = byAnswer[++next])
      latest = Math.max(latest, places.get(done) ?? 0);
    const { position, observedFrom } = operation;
    const place = position === undefined ? observedFrom?.(latest) : position > latest ? position : undefined;
    if (place === undefined) misplaced.push(operation.name);
    else places.set(operation, place);
  }
  return misplaced;
}
