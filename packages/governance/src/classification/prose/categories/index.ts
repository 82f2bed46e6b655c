import type { Phrase } from "../phrases.ts";
import { BODY } from "./body.ts";
import { CRIMES } from "./convictions.ts";
import { DESCENTS } from "./descent.ts";
import { ORIENTATIONS } from "./orientation.ts";
import { PARTIES } from "./politics.ts";
import { FAITHS } from "./religion.ts";
import { UNIONS } from "./unions.ts";

/** Phrases that speak of the special categories of GDPR Articles 9 and 10 other than health, in English, German, French, Spanish, Italian, Portuguese, Dutch, and the commonest in Polish, Swedish and Turkish. */
export const SPECIAL_CATEGORIES: readonly Phrase[] = [
  ...UNIONS,
  ...CRIMES,
  ...PARTIES,
  ...FAITHS,
  ...ORIENTATIONS,
  ...DESCENTS,
  ...BODY,
];
