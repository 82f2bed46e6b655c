import { checkArgument } from "@seneschal/kernel";

/** What a text tries to do to the model that reads it. */
export interface Injection {
  readonly id: string;
  /** Where the pattern is described. */
  readonly source: string;
  readonly pattern: RegExp;
}

const OWASP = "OWASP Top 10 for LLM applications 2025, LLM01 prompt injection";
const OWASP_LEAK = "OWASP Top 10 for LLM applications 2025, LLM07 system prompt leakage";
const GARAK = "garak, probes promptinject and dan (Perez and Ribeiro 2022, Shen et al. 2023)";
const GRESHAKE = "Greshake et al. 2023, indirect prompt injection";

/** Up to three words between, of one sentence. */
const FEW = String.raw`(?:\s{1,8}[\p{L}']{1,20}){0,3}`;
const OLD = "(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial)";
const ORDERS = "(?:instructions?|directions?|directives?|prompts?|rules?|guidelines?|commands?|orders?|context|constraints?)";

/**
 * Forms of prompt injection. Each names a move and not an attack that somebody once made: to take back what was said, to ask for what the operator said, to play the operator's
 * part, to forge a turn of the talk, to send text out in an address. Whoever writes with care passes them: they flag, the policy decides.
 */
export const INJECTIONS: readonly Injection[] = [
  {
    id: "override-instructions",
    source: `${OWASP}; ${GARAK}`,
    pattern: new RegExp(
      String.raw`\b(?:ignore|disregard|forget|override|bypass|drop|discard|neglect)${FEW}\s{1,8}(?:${OLD}${FEW}\s{1,8}${ORDERS}|(?:your|the system'?s?)\s{1,8}${ORDERS}|${ORDERS}${FEW}\s{1,8}(?:above|before|so far))\b`,
      "iu",
    ),
  },
  {
    id: "override-instructions-de",
    source: OWASP,
    pattern:
      /\b(?:ignorier|vergiss|missacht|verwirf)\p{L}{0,5}(?:\s{1,8}\p{L}{1,20}){0,4}\s{1,8}(?:anweisung|anordnung|regel|vorgabe|instruktion|befehl)\p{L}{0,4}\b/iu,
  },
  {
    id: "override-instructions-fr",
    source: OWASP,
    pattern:
      /\b(?:ignor|oubli|méprise)\p{L}{0,4}(?:\s{1,8}\p{L}{1,20}){0,4}\s{1,8}(?:instructions?|consignes?|règles?|directives?)\s{1,8}(?:précédentes?|antérieures?|ci-dessus|initiales?)/iu,
  },
  {
    id: "override-instructions-es",
    source: OWASP,
    pattern:
      /\b(?:ignor|olvid|descart)\p{L}{0,4}(?:\s{1,8}\p{L}{1,20}){0,4}\s{1,8}(?:instrucciones|instruções|istruzioni|órdenes|reglas|regras)\s{1,8}(?:anteriores|previas|iniciales|precedentes?|precedenti)/iu,
  },
  {
    id: "reveal-system-prompt",
    source: OWASP_LEAK,
    pattern: new RegExp(
      String.raw`\b(?:reveal|show|print|repeat|output|display|leak|tell|give|write)${FEW}\s{1,8}(?:your|the|its)${FEW}\s{1,8}(?:system|hidden|initial|secret|developer|original)\s{1,8}(?:prompt|instructions?|messages?|rules?)\b`,
      "iu",
    ),
  },
  {
    id: "words-above",
    source: OWASP_LEAK,
    pattern:
      /\b(?:repeat|print|output|copy)\s{1,8}(?:all\s{1,8}|everything\s{1,8}|the\s{1,8}){0,3}(?:words?|text|content|everything|sentences?)?\s{0,8}(?:above|before this)\b.{0,60}\b(?:you are|verbatim|code ?block|word for word)\b/isu,
  },
  {
    id: "no-restrictions-persona",
    source: GARAK,
    pattern:
      /\b(?:you are (?:now )?|act as |pretend (?:to be |you are )|roleplay as |from now on,? you(?: are|'re| will be)? )[^.!?\n]{0,80}\b(?:(?:no|without(?: any)?|free (?:of|from)|not bound by|unbound by)(?:\s{1,8}\p{L}{1,20}){0,3}\s{1,8}(?:restrictions?|limits?|limitations?|rules|filters?|guidelines?|censorship|policies)|unfiltered|uncensored|jailbroken|DAN\b|do anything now)/iu,
  },
  {
    id: "mode-switch",
    source: GARAK,
    pattern:
      /\b(?:enable|enter|activate|switch (?:in)?to|you are (?:now )?in)\s{1,8}(?:\p{L}{1,20}\s{1,8})?(?:developer|jailbreak|god|debug|sudo|admin(?:istrator)?|unrestricted|dan)\s{1,8}mode\b/iu,
  },
  {
    id: "forged-turn",
    source: "chat templates of ChatML, Llama 2 and 3, Mistral: their control tokens inside of a text",
    pattern:
      /<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text)\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:start|end)_of_turn>/iu,
  },
  {
    id: "forged-role-line",
    source: GRESHAKE,
    pattern:
      /(?:^|\n)[ \t>#*[]{0,8}(?:system|developer)(?: (?:prompt|message|override|instructions?))?[\]* \t]{0,6}[:：][ \t*]{0,6}(?:you|ignore|disregard|from now|new|the (?:user|assistant)|do not|always|never)\b/iu,
  },
  {
    id: "to-the-assistant",
    source: GRESHAKE,
    pattern:
      /\b(?:note|message|instructions?|attention|important)[ \t]{0,3}(?:to|for)[ \t]{1,8}(?:the[ \t]{1,8}|any[ \t]{1,8}|all[ \t]{1,8})?(?:ai|llm|language model|chatbot|gpt|ai assistant|ai agent|assistant reading)\b/iu,
  },
  {
    id: "do-not-tell-the-user",
    source: GRESHAKE,
    pattern:
      /\b(?:do not|don't|never|without)\s{1,8}(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|alert(?:ing)?|notify(?:ing)?|reveal(?:ing)?)\b[^.!?\n]{0,40}\b(?:the\s{1,8})?user\b/iu,
  },
  {
    id: "image-that-carries-text",
    source: "Rehberger 2023, data exfiltration by Markdown images and links",
    pattern: /!\[[^\]\n]{0,200}\]\(\s{0,4}https?:\/\/[^)\s]{1,300}[?&][^)\s=]{1,60}=[^)\s]{0,300}\)/iu,
  },
];

/** Characters that show nothing and can hide orders: tags (U+E0000), and runs of zero-width ones. */
const HIDDEN = /[\u{E0020}-\u{E007F}]{4,}|[\u200B\u200C\u2060\u2062-\u2064\uFEFF]{8,}/u;

/** The ids of what a text tries, in the order of {@link INJECTIONS}. Read as it stands and without what shows nothing, a window at a time. */
export function injectionsIn(text: string): readonly string[] {
  checkArgument("text", text, "string");
  const hidden = HIDDEN.test(text);
  const shown = text
    .normalize("NFKC")
    .replace(/[\u{E0020}-\u{E007E}]/gu, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000))
    .replace(/\p{Cf}/gu, "");
  const found = INJECTIONS.filter(({ pattern }) => pattern.test(shown)).map(({ id }) => id);
  return hidden ? [...found, "hidden-characters"] : found;
}
