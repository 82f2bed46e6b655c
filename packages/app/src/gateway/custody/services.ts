import type { TranscriptWork } from "@seneschal/crypto/custody";
import type { ThresholdWork } from "@seneschal/crypto/threshold";
import type { PeopleServices } from "../people/index.ts";

export interface CustodyServices extends PeopleServices {
  /** Work with root keys, shares and custodians' transcripts, apart from this thread. */
  readonly threshold: ThresholdWork & TranscriptWork;
}
