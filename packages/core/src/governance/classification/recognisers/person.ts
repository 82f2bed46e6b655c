import type { Recogniser } from "../recogniser.ts";

const word = "\\p{Lu}[\\p{L}'’-]{1,30}";

/** What one of the introductions below must hold. */
const INTRODUCTIONS =
  /name|\bi am|i'm|called|dear|regards|sincerely|ich heiße|appelle|mon nom|llamo|nombre|chiamo|nome|heet|naam|nazywam/i;

/** Names of people where the words around give them away; a model would find more. */
export const person: readonly Recogniser[] = [
  {
    entity: "PERSON",
    patterns: [
      {
        name: "after a title",
        regex: new RegExp(
          `(?<=\\b(?:Mr|Mrs|Ms|Dr|Prof|Miss|Sir|Madam|Herr|Herrn|Frau|Monsieur|Madame|Mademoiselle|Mme|Mlle|Señor|Señora|Señorita|Sra?|Signora?|Signorina|Sig|Senhora?|Mevrouw|Meneer|Pani)\\.? )${word}(?: (?:\\p{Lu}\\.|${word})){0,3}`,
          "gu",
        ),
        score: 0.6,
      },
    ],
    context: ["name", "mr", "mrs", "dr"],
    prior: 0.4,
  },
  {
    entity: "PERSON",
    patterns: [
      {
        name: "introduced",
        regex: new RegExp(
          `(?<=\\b(?:[Mm]y name is|[Nn]ame is|I am|I'm|[Nn]ame:|[Nn]amed|[Cc]alled|[Dd]ear|[Rr]egards,|[Ss]incerely,|[Ii]ch heiße|[Mm]ein Name ist|[Jj]e m['’]appelle|[Mm]on nom est|[Mm]e llamo|[Mm]i nombre es|[Mm]i chiamo|[Ii]l mio nome è|[Mm]eu nome é|[Ii]k heet|[Mm]ijn naam is|[Nn]azywam się) {0,2})${word}(?: (?:\\p{Lu}\\.|${word})){0,3}(?! (?:Inc|Ltd|LLC|GmbH))`,
          "gu",
        ),
        score: 0.5,
      },
    ],
    context: ["name", "mr", "mrs", "dr"],
    needs: (text) => INTRODUCTIONS.test(text),
    prior: 0.4,
  },
];
