/** Categories of personal data that prose speaks of; each is the short tag of its entity. */
export type Category =
  | "HEALTH"
  | "SALARY"
  | "RELIGION"
  | "UNION"
  | "ORIENTATION"
  | "POLITICS"
  | "BIOMETRIC"
  | "ETHNICITY"
  | "GENETIC";

/** Where people write such texts. */
export type Source = "email" | "chat" | "ticket" | "hr" | "medical" | "invoice" | "prompt" | "note";

export type Language = "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "ar" | "hi" | "zh" | "ja";

/**
 * A text with places for values (`{person}`, `{iban}` ...) and the categories that it speaks of. One without a labelled place and without a
 * category is harmless.
 */
type Template = readonly [source: Source, text: string, ...categories: readonly Category[]];

export type Templates = Readonly<Partial<Record<Language, readonly Template[]>>>;
