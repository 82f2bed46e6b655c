import { ABBREVIATIONS } from "./abbreviations.ts";
import { DENSE, folded, ungluedWord } from "./glued-words.ts";
import { wordsOf } from "./words-of.ts";
import { WORDS_OF_LANGUAGES } from "./words-of-languages.ts";

/** Phrases (words joined by `_`) -> what the lexicon's English says. */
const MEANS = new Map<string, string>();
/** Words of scripts without blanks. */
const DENSE_WORDS = new Map<string, string>();

/** What stands for a word that many names begin or end with. */
const SHORTENED: readonly (readonly [long: RegExp, short: readonly string[]])[] = [
  [/^numero(?=_)/, ["num", "nro", "no", "nr"]],
  [/(?<=_)numero$/, ["num", "nro", "nr"]],
  [/nummer$/, ["nr", "no", "num"]],
  [/^numer(?=_)/, ["nr"]],
  [/^date(?=_)/, ["dt"]],
  [/^data(?=_)/, ["dt"]],
  [/^fecha(?=_)/, ["fec", "fch"]],
  [/datum$/, ["dat", "dt"]],
];

const learn = (said: string, means: string) => {
  const key = wordsOf(said).map(folded).join("_");
  for (const [long, short] of SHORTENED) if (long.test(key)) for (const each of short) put(key.replace(long, each), means);
  put(key, means);
};
const put = (key: string, means: string) => {
  if (DENSE.test(key)) DENSE_WORDS.set(key, means);
  else {
    MEANS.set(key, means);
    // `motdepasse`, `fechanacimiento`: a phrase is glued too.
    if (key.includes("_") && key.length > 6) MEANS.set(key.replaceAll("_", ""), means);
  }
};
for (const [means, languages] of WORDS_OF_LANGUAGES)
  for (const words of Object.values(languages)) for (const word of words.split(" ")) if (word !== "") learn(word, means);
for (const [said, means] of ABBREVIATIONS) for (const word of said.split(" ")) learn(word, means);

const LONGEST_PHRASE = Math.max(...[...MEANS.keys()].map((phrase) => phrase.split("_").length));
const LONGEST_DENSE = Math.max(...[...DENSE_WORDS.keys()].map((word) => word.length));

/** Digits in a word that are no number beside it. */
const WITH_DIGITS = /^(?:ipv[46]|hba1c|[a-z]\d[a-z]\w*|\d.*)$/;

/** The words of a name in the lexicon's English, joined by blanks: glued words apart, abbreviations and words of other languages said in English. `words` in lower case. */
export function inLexiconEnglish(words: readonly string[]): string {
  const apart = words.flatMap(wordsIn);
  const said: string[] = [];
  for (let i = 0; i < apart.length; ) {
    let taken = 1;
    let means: string | undefined;
    for (let n = Math.min(LONGEST_PHRASE, apart.length - i); n > 0 && means === undefined; n--) {
      const words = apart.slice(i, i + n);
      // `rekening_nummer`: what is one word is written in two, too.
      means =
        MEANS.get(words.join("_")) ?? (n > 1 && words.some((word) => word.length > 3) ? MEANS.get(words.join("")) : undefined);
      if (means !== undefined) taken = n;
    }
    said.push(means ?? apart[i] ?? "");
    i += taken;
  }
  return said.join(" ");
}

/** A word, or the words that it is made of. */
function wordsIn(given: string): readonly string[] {
  const word = folded(given);
  if (DENSE.test(word)) return denseWords(word);
  if (MEANS.has(word)) return [word];
  const hashed = /^(\D{3,})((?:sha|md|aes)\d{1,3})$/.exec(word);
  if (hashed !== null) return [...wordsIn(hashed[1] ?? ""), hashed[2] ?? ""];
  const number = WITH_DIGITS.test(word) ? null : /^(\D+)(\d+)(\D*)$/.exec(word);
  if (number !== null) {
    const [, before = "", digits = "", after = ""] = number;
    return [...wordsIn(before), digits, ...(after === "" ? [] : wordsIn(after))];
  }
  return ungluedWord(word) ?? [word];
}

/** Words of scripts without blanks, the longest first from left to right; what is not known stays as it is. */
function denseWords(text: string): readonly string[] {
  const found: string[] = [];
  let rest = "";
  for (let i = 0; i < text.length; ) {
    let n = Math.min(LONGEST_DENSE, text.length - i);
    while (n > 0 && !DENSE_WORDS.has(text.slice(i, i + n))) n--;
    if (n === 0) rest += text[i++];
    else {
      if (rest !== "") found.push(rest);
      rest = "";
      found.push(DENSE_WORDS.get(text.slice(i, i + n)) ?? "");
      i += n;
    }
  }
  return rest === "" ? found : [...found, rest];
}
