import type { ThresholdWork } from "@seneschal/crypto/threshold";
import type { PeopleServices } from "../people/index.ts";

export interface CustodyServices extends PeopleServices {
  /** Work with root keys and shares, apart from this thread. */
  readonly threshold: ThresholdWork;
}
