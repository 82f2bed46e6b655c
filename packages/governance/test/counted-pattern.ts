import { type AST, RegExpParser } from "@eslint-community/regexpp";

/** Goes on with the rest of a pattern from a place. */
type Rest = (at: number) => boolean;
/** Matches a part of a pattern from a place, and the rest behind it. */
type Part = (text: string, at: number, rest: Rest, work: Work) => boolean;

interface Work {
  /** Characters that were looked at. */
  looks: number;
  /** What the groups matched, for references to them. */
  readonly groups: Map<AST.CapturingGroup, string>;
}

/** A pattern as a matcher that backtracks runs it, with each look at a character counted. */
export interface CountedPattern {
  /** How often one search of a text looks at a character, from a place on; with `sticky` only there. */
  looks(text: string, from: number, sticky: boolean): number;
}

const made = new Map<string, CountedPattern>();

export function countedPattern({ source, flags }: RegExp): CountedPattern {
  const key = `${flags}/${source}`;
  const known = made.get(key) ?? compiled(source, flags);
  made.set(key, known);
  return known;
}

function compiled(source: string, flags: string): CountedPattern {
  const unicode = flags.includes("u");
  const kept = flags.replace(/[^imsu]/g, "");
  const { alternatives } = new RegExpParser().parsePattern(source, 0, source.length, { unicode });
  const all = oneOf(alternatives);
  return {
    looks(text, from, sticky) {
      const work: Work = { looks: 0, groups: new Map() };
      for (let at = from; at <= text.length; at++) {
        work.groups.clear();
        if (all(text, at, () => true, work) || sticky) break;
      }
      return work.looks;
    },
  };

  function oneOf(list: readonly AST.Alternative[]): Part {
    const parts = list.map(({ elements }) => inTurn(elements.map(partOf)));
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    return (text, at, rest, work) => parts.some((part) => part(text, at, rest, work));
  }

  function inTurn(parts: readonly Part[]): Part {
    return parts.reduceRight<Part>(
      (next, part) => (text, at, rest, work) => part(text, at, (to) => next(text, to, rest, work), work),
      (_, at, rest) => rest(at),
    );
  }

  /** How many units one character of a class takes at a place; 0 where it is another one. */
  function characterOf(node: AST.Element): ((text: string, at: number) => number) | undefined {
    if (node.type !== "Character" && node.type !== "CharacterSet" && node.type !== "CharacterClass") return undefined;
    const one = new RegExp(`^(?:${node.raw})$`, kept);
    const known = new Map<string, boolean>();
    return (text, at) => {
      const c = unicode ? String.fromCodePoint(text.codePointAt(at) ?? 0) : text.charAt(at);
      if (at >= text.length) return 0;
      const fits = known.get(c) ?? one.test(c);
      known.set(c, fits);
      return fits ? c.length : 0;
    };
  }

  function partOf(node: AST.Element): Part {
    const character = characterOf(node);
    if (character !== undefined)
      return (text, at, rest, work) => {
        work.looks++;
        const length = character(text, at);
        return length > 0 && rest(at + length);
      };
    switch (node.type) {
      case "Assertion": {
        if (node.kind === "lookahead" || node.kind === "lookbehind") return around(node);
        const one = new RegExp(node.raw, `${kept}y`);
        return (text, at, rest, work) => {
          work.looks++;
          one.lastIndex = at;
          return one.test(text) && rest(at);
        };
      }
      case "Quantifier":
        return repeated(node);
      case "Group":
        return oneOf(node.alternatives);
      case "CapturingGroup": {
        const inner = oneOf(node.alternatives);
        return (text, at, rest, work) =>
          inner(
            text,
            at,
            (to) => {
              work.groups.set(node, text.slice(at, to));
              return rest(to);
            },
            work,
          );
      }
      case "Backreference": {
        const group = [node.resolved].flat()[0];
        return (text, at, rest, work) => {
          const said = group === undefined ? "" : (work.groups.get(group) ?? "");
          work.looks += said.length;
          return text.startsWith(said, at) && rest(at + said.length);
        };
      }
      default:
        throw new Error(`no pattern here has a ${node.type}`);
    }
  }

  /** What is looked ahead for is matched from here; what is looked behind for, from each place before that its longest match may begin at. */
  function around(node: AST.LookaroundAssertion): Part {
    const inner = oneOf(node.alternatives);
    const longest = node.kind === "lookahead" ? 0 : Math.max(...node.alternatives.map(lengthOf));
    return (text, at, rest, work) => {
      let found = node.kind === "lookahead" && inner(text, at, () => true, work);
      if (node.kind === "lookbehind")
        for (let from = at; !found && from >= Math.max(0, at - longest); from--)
          found = inner(text, from, (to) => to === at, work);
      return found !== node.negate && rest(at);
    };
  }

  function lengthOf({ elements }: AST.Alternative): number {
    let sum = 0;
    for (const node of elements) {
      if (node.type === "Quantifier") sum += node.max * lengthOf({ elements: [node.element] } as unknown as AST.Alternative);
      else if (node.type === "Group" || node.type === "CapturingGroup") sum += Math.max(...node.alternatives.map(lengthOf));
      else if (node.type !== "Assertion") sum += unicode ? 2 : 1;
    }
    return sum;
  }

  function repeated({ element, min, max, greedy }: AST.Quantifier): Part {
    const character = characterOf(element);
    if (character !== undefined)
      return (text, at, rest, work) => {
        const places = [at];
        const step = (): boolean => {
          const last = places.at(-1) ?? at;
          work.looks++;
          const length = places.length > max ? 0 : character(text, last);
          if (length > 0) places.push(last + length);
          return length > 0;
        };
        while (places.length <= min) if (!step()) return false;
        if (!greedy) {
          do if (rest(places.at(-1) ?? at)) return true;
          while (step());
          return false;
        }
        while (step());
        for (let i = places.length - 1; i >= min; i--) {
          work.looks++;
          if (rest(places[i] ?? at)) return true;
        }
        return false;
      };
    const part = partOf(element);
    const from = (text: string, at: number, count: number, rest: Rest, work: Work): boolean => {
      const more = (): boolean =>
        count < max && part(text, at, (to) => (to > at || count < min) && from(text, to, count + 1, rest, work), work);
      if (count < min) return more();
      return greedy ? more() || rest(at) : rest(at) || more();
    };
    return (text, at, rest, work) => from(text, at, 0, rest, work);
  }
}

/** How often patterns look at a character while some work is done: every search of the work is counted, in whatever way it is asked. */
export function looksDuring(work: () => void): number {
  const exec = RegExp.prototype.exec;
  const asked: (readonly [RegExp, string, number])[] = [];
  RegExp.prototype.exec = function (this: RegExp, text: string) {
    asked.push([this, text, this.global || this.sticky ? this.lastIndex : 0]);
    return exec.call(this, text);
  };
  try {
    work();
  } finally {
    RegExp.prototype.exec = exec;
  }
  return asked.reduce((sum, [regex, text, from]) => sum + countedPattern(regex).looks(text, from, regex.sticky), 0);
}
