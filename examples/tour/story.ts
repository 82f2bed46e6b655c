/** Tells the story: one numbered line a step; the first step that fails ends it. */
export interface Story {
  step<R>(line: string, act: () => Promise<R>): Promise<R>;
}

export function story(): Story {
  let number = 0;
  return {
    async step(line, act) {
      number += 1;
      const result = await act();
      console.log(`${String(number).padStart(2)}  ${line}`);
      return result;
    },
  };
}

/** Throws unless the fact holds: a tour that shows something else than it says must fail. */
export function expect(fact: boolean, what: string): asserts fact {
  if (!fact) throw new Error(`the tour expected: ${what}`);
}
