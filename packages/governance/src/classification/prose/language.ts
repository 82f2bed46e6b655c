import type { Word } from "./words.ts";

export type ProseLanguage = "en" | "de" | "fr" | "es" | "it" | "pt" | "nl";

/** Function words that tell a language, without accents: articles, prepositions, auxiliaries. */
const TELLING: Readonly<Record<ProseLanguage, string>> = {
  en: "the of and to is was with for that this are have has been she he her his my your from will you it at by we not who be",
  de: "der die das und ist von mit den dem nicht ein eine einen wird wurde bei fur sich auf im am zum zur ich sie er wir hat habe ihr ihre sein seine mein meine bitte",
  fr: "le les des et est une du au aux pour avec dans sur pas je il elle vous nous qui ce cette sa son ses par ete depuis bonjour ai mon ma",
  es: "el los las y es una del con para por que su sus se esta yo le muy fue ha al lo como tengo desde hola mi",
  it: "il gli e un una del della di con per che non si sono ha al alla dal le lo stata stato mi ciao ho suo sua mio mia",
  pt: "o os as e um uma do da dos das com para por que nao seu sua foi em ao na no tenho esta desde ola lhe",
  nl: "de het een en van is met voor dat niet op bij aan naar zij hij haar zijn heeft werd ik mijn u wordt zich beste",
};
const LANGUAGES = Object.keys(TELLING) as readonly ProseLanguage[];
const SAID = new Map<string, ProseLanguage[]>();
for (const language of LANGUAGES) {
  for (const word of TELLING[language].split(" ")) SAID.set(word, [...(SAID.get(word) ?? []), language]);
}

/** The language that most function words of the text's first thousand words are of; English where nothing tells. */
export function languageOf(words: readonly Word[]): ProseLanguage {
  const counts: Record<ProseLanguage, number> = { en: 0.5, de: 0, fr: 0, es: 0, it: 0, pt: 0, nl: 0 };
  for (let i = 0; i < words.length && i < 1000; i++) {
    const languages = SAID.get(words[i]?.plain ?? "");
    if (languages !== undefined) for (const language of languages) counts[language] += 1 / languages.length;
  }
  let best: ProseLanguage = "en";
  for (const language of LANGUAGES) if (counts[language] > counts[best]) best = language;
  return best;
}
