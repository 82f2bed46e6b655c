/** `<PERSON_1>`: what a model sees in place of a value. */
export const PLACEHOLDER = /<[A-Z][A-Z0-9_]{1,63}_[1-9][0-9]{0,6}>/g;
