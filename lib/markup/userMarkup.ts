import type { CleanMarkup } from '../userTokens/rules/userContent.ts';

/** Cleans markup of user tokens. The parser has 175 kB, so it is loaded with the first markup. */
export const userMarkup: CleanMarkup = async (markup, policy) =>
  (await import('./rules/cleanMarkup.ts')).cleanMarkup(markup, policy);
