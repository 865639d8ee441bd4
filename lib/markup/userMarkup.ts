import type { CleanMarkup } from '../app/rules/userRule.ts';

/** The parser has 175 kB, so a function loads it with its first markup. */
export const userMarkup: CleanMarkup = async (markup, policy) =>
  (await import('./rules/cleanMarkup.ts')).cleanMarkup(markup, policy);
