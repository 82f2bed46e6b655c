import { termOf } from "../lexicon.ts";

/** A member that names another one: `{"name": "ssn", "value": "..."}`, and what FHIR calls it (`system` of an identifier or a contact, `url` of an extension, `text` of a question). */
const NAMING = /^(?:name|key|field|label|attribute|property|column|header|code|type|system|url|text)$/i;
/** Those that are there for nothing else. */
const NAMES = /^(?:name|key|field|label|attribute|property|column|header|code)$/i;
const VALUE = /^values?(?:[A-Z_].*)?$|^val$/i;
const TYPED_VALUE = /^value[A-Z]/;
const ANSWER = /^answers?$/i;
/** Members of a FHIR concept that say what it is, and the members that hold one. */
const SAYS = /^(?:display|text|code)$/;
const CODING = "coding";
const CONCEPT = /^(?:code|type)$/;
const LONGEST_NAME = 96;
/** Names of one object that are looked at. */
const MOST_NAMES = 16;

/** What the members of one object say of the member that holds its value. */
export class Pairs {
  readonly #said: (readonly [member: string, text: string])[] = [];

  /** A member that is a text. */
  add(member: string, text: string): void {
    // A marker is none, so that the name is the same the second time.
    if (!NAMING.test(member) && member !== "display") return;
    if (this.#said.length < MOST_NAMES && text.length <= LONGEST_NAME && !/[<>*@]/.test(text)) this.#said.push([member, text]);
  }

  /** A member that is an object: of a concept what it says is said here. */
  addConcept(member: string, inner: Pairs): void {
    if (!isConcept(member)) return;
    for (const [name, text] of inner.#said)
      if (SAYS.test(name) && this.#said.length < MOST_NAMES) this.#said.push([member === CODING ? name : "code", text]);
  }

  /** What a member is called by those beside it: by the first that names data, else by the first that is there to name. `undefined` where it has its own name. */
  nameOf(member: string): string | undefined {
    const isAnswer = ANSWER.test(member);
    if (!isAnswer && !VALUE.test(member)) return undefined;
    const names = this.#said.flatMap(([key, text]) => {
      if (key === "display" || (key === "text") !== isAnswer || (key === "url" && !TYPED_VALUE.test(member))) return [];
      return [key === "system" || key === "url" ? lastPart(text) : text];
    });
    return names.find((name) => termOf(name) !== undefined) ?? this.#said.find(([key]) => NAMES.test(key))?.[1];
  }
}

/** Whether a member of this name holds a concept, or a coding of one. */
export function isConcept(member: string): boolean {
  return member === CODING || CONCEPT.test(member);
}

/** Of a web address or a URN what stands last in it. */
function lastPart(address: string): string {
  return /[^/:#]*$/.exec(address.replace(/[/#]+$/, ""))?.[0] ?? address;
}
