import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { systemRandom } from "@seneschal/adapters/system";
import { openThresholdThreads } from "@seneschal/adapters/threshold-threads";

/** What computes for all gateways of a test process: threads take half a second of the processor to start from source. */
export const threads = {
  policy: embeddedPolicyEngine(),
  threshold: openThresholdThreads({ random: systemRandom }),
};
