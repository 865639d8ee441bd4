/** `anthropic.claude-opus-4-8` for `eu.anthropic.claude-opus-4-8`. Undefined for the id of a model. */
export function modelOfProfile(id: string): string | undefined {
  return /^(?:global|us-gov|[a-z]{2,4})\.(.+)$/.exec(id)?.[1];
}
