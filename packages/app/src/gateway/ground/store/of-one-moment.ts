import type { Contract, Handlers, Principal } from "@seneschal/contract";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { type Admission, type Attempt, asAdmitted, inOneMoment, recordedReads } from "../../../platform/index.ts";
import type { Call, GatewayUnit } from "../call.ts";
import type { GroundServices } from "../services.ts";
import { reader } from "./reader.ts";
import { lostRace } from "./unit-of-work.ts";

type AnyHandler = (services: GroundServices, input: { readonly principal: Principal | undefined }) => unknown;

/**
 * The same handlers, each on reads of one moment: what a handler answers, throws, or goes on to write with was judged on reads that
 * were true together; otherwise it runs again. It has written nothing by then: its first transaction does not begin before
 * what it had read is found to hold, and from there on the transaction guards what it reads. What its caller was authenticated and
 * authorised by is of that moment too: when it has changed, the caller is let in anew, or refused.
 */
export function handlersOfOneMoment<C extends Contract, Services extends GroundServices>(
  handlers: Handlers<C, Services>,
): Handlers<C, Services> {
  const wrapped = Object.entries(handlers).map(([id, handler]) => [
    id,
    (services: Services, input: { readonly principal: Principal | undefined }) => {
      const admission = services.admissionOf(input.principal);
      const asked = asAdmitted(input, admission);
      return ofOneMoment(services, (own: Services) => (handler as AnyHandler)(own, asked()), admission);
    },
  ]);
  return Object.fromEntries(wrapped) as Handlers<C, Services>;
}

/** Runs `work` on reads of one moment; see {@link handlersOfOneMoment}. */
export function ofOneMoment<R, Services extends GroundServices>(
  services: Services,
  work: (services: Services) => R | Promise<R>,
  admission?: Admission,
): Promise<R> {
  return inOneMoment((number) => watched(services, work, number, admission), lostRace, admission);
}

function watched<R, Services extends GroundServices>(
  services: Services,
  work: (services: Services) => R | Promise<R>,
  attempt: number,
  admission: Admission | undefined,
): Attempt<R> {
  const since = admission === undefined ? services.quiet() : admission.quiet;
  const quiet = attempt === 1 && since?.() === true ? since : undefined;
  // What is remembered may be from before a write: the versions that were read are asked of the store, and the next attempt reads there.
  const { store, remembered } = services;
  const source = attempt === 1 ? remembered : store;
  const recorded = quiet === undefined ? recordedReads(source, { before: admission?.reads, again: store }) : undefined;
  const hold = async (): Promise<boolean> => quiet?.() ?? (await recorded?.hold()) ?? true;
  let begun = false;
  let holding: Promise<boolean> | undefined;
  const own: Services = {
    ...services,
    ...(recorded === undefined ? {} : { store: recorded.store, read: reader(recorded.store) }),
    async transact<R>(call: Call, work: (unit: GatewayUnit) => Promise<R>): Promise<R> {
      holding ??= hold();
      if (!(await holding)) throw lostRace();
      begun = true;
      return services.transact(call, work, admission);
    },
  };
  return { run: () => work(own), stands: async () => begun || (await (holding ?? hold())) };
}

/**
 * Tells whether documents stayed as they were, for a store that is this process's alone: `quiet()` gives a question whose answer is
 * true while nothing was written since, or nothing at all while something is being written. Over any other store: never.
 */
export function quietStore(store: DocumentStore): {
  readonly store: DocumentStore;
  readonly quiet: () => (() => boolean) | undefined;
} {
  if (store.capabilities.multiProcess) return { store, quiet: () => undefined };
  let begun = 0;
  let ended = 0;
  return {
    quiet() {
      const before = begun;
      return ended === before ? () => begun === before : undefined;
    },
    store: new Proxy(store, {
      get(target, name) {
        if (name !== "commit") {
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        }
        return async (commit: Parameters<DocumentStore["commit"]>[0]) => {
          if ((commit.puts?.length ?? 0) + (commit.dels?.length ?? 0) === 0) return target.commit(commit);
          begun += 1;
          return target.commit(commit).finally(() => {
            ended += 1;
          });
        };
      },
    }),
  };
}
