import type { Recogniser } from "../search/recogniser.ts";

/** Quasi-identifiers in prose, where the words around them say what they are. */
export const quasi: readonly Recogniser[] = [
  {
    entity: "AGE",
    patterns: [
      { name: "years old", regex: /(?<![A-Za-z\d.-])\d{1,3}(?=[ -](?:years?[ -]old|jahre[ -]alt|jährig)\b)/gi, score: 0.6 },
      { name: "age of", regex: /(?<=\b(?:age of|aged|age is|age:|turn|turned|turning) )\d{1,3}(?![A-Za-z\d%])/gi, score: 0.5 },
    ],
    context: ["age", "old"],
    prior: 0.4,
  },
  {
    entity: "ZIP_CODE",
    patterns: [{ name: "digits", regex: /(?<![A-Za-z\d.,/-])\d{4,5}(?:-\d{3,4})?(?![A-Za-z\d/-])(?![.,]\d)/g, score: 0.05 }],
    context: ["zip code", "zip", "zipcode", "postal code", "postcode"],
    prior: 0.35,
  },
];
