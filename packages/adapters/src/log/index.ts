export { type CircuitBreakerOptions, circuitBreaker, type GuardedLog } from "./circuit-breaker.ts";
export { newId, sha256 } from "./identity.ts";
export {
  type Candidate,
  type Holder,
  openSequencer,
  type Sequencer,
  type SequencerLease,
  type SequencerOptions,
} from "./open-sequencer.ts";
