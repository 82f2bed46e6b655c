import { isDeepStrictEqual } from "node:util";
import { type AuthoriseInput, type Hooks, type Principal, situation } from "@seneschal/contract";
import type { RecordedReads } from "./recorded-reads.ts";

type Authenticate = NonNullable<Hooks["authenticate"]>;
type Authorise = NonNullable<Hooks["authorise"]>;

/**
 * How the caller of one request was let in, and on what. Whoever reads or writes for the request does it on the same moment: a commit
 * carries {@link RecordedReads.checks} and {@link RecordedReads.ranges} as its conditions, an answer is given while
 * {@link RecordedReads.same} holds, and when something has changed the caller is let in anew before anything else.
 */
export interface Admission {
  /** As the caller was let in last. */
  readonly principal: Principal;
  /** What authentication and authorisation read. Empty once the request was carried out. */
  readonly reads: Pick<RecordedReads, "same" | "checks" | "ranges" | "count">;
  /** See `store/of-one-moment.ts` of the gateway; from before the first read. */
  readonly quiet: (() => boolean) | undefined;
  /**
   * Lets the caller in anew if anything has changed of what that was judged on. Throws what a new request would be refused with. True
   * while it is the same caller, with the same rights.
   */
  revise(): Promise<boolean>;
  /** A change of the request stands: what it still writes belongs to it, and may be what itself was let in by. */
  stands(): void;
}

/** What one look at a caller reads through, begun anew for each. */
interface Look {
  readonly reads: RecordedReads;
  readonly quiet?: (() => boolean) | undefined;
}

/** Hooks whose reads are kept with the principal that they found. */
export interface Admissions {
  readonly authenticate: Authenticate;
  readonly authorise: Authorise;
  /** Of a principal that these hooks let in, by the very object; undefined for any other. */
  of(principal: Principal | undefined): Admission | undefined;
}

/**
 * Hooks over `authenticate` and `authorise`, which read through what they are given; `again`: the caller was in already. Whoever looks
 * again is shown what is stored: a cache may not have heard yet of what the first look was found to be wrong by.
 */
export function admissions(
  look: (again: boolean) => Look,
  authenticate: (reads: RecordedReads, again: boolean) => Authenticate,
  authorise: (reads: RecordedReads) => Authorise,
): Admissions {
  const known = new WeakMap<Principal, Admission & { asked(input: AuthoriseInput): Promise<void> }>();
  return {
    async authenticate(wire, ref) {
      let { reads, quiet } = look(false);
      const found = await authenticate(reads, false)(wire, ref);
      if (found === undefined) return undefined;
      let principal: Principal = Object.assign({}, found);
      let question: AuthoriseInput | undefined;
      let done = false;
      known.set(principal, {
        get principal() {
          return principal;
        },
        get quiet() {
          return quiet;
        },
        reads: {
          same: async () => done || quiet?.() === true || reads.same(),
          checks: () => (done || quiet?.() === true ? [] : reads.checks()),
          ranges: () => (done || quiet?.() === true ? [] : reads.ranges()),
          count: () => (done ? 0 : reads.count()),
        },
        async revise() {
          if (done || quiet?.() === true || (await reads.same())) return true;
          const before = principal;
          ({ reads, quiet } = look(true));
          const again = await authenticate(reads, true)(wire, ref);
          if (again === undefined) throw situation("unauthenticated", "authentication required");
          principal = again;
          if (question !== undefined) await authorise(reads)({ ...question, principal });
          return isDeepStrictEqual(before, principal);
        },
        stands() {
          done = true;
        },
        asked(input) {
          question = input;
          return Promise.resolve(authorise(reads)(input));
        },
      });
      return principal;
    },
    authorise: (input) => {
      const admission = input.principal && known.get(input.principal);
      return admission === undefined ? authorise(look(false).reads)(input) : admission.asked(input);
    },
    of: (principal) => principal && known.get(principal),
  };
}
