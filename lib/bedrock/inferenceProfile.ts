/**
 * Returns the model of an inference profile: `anthropic.claude-opus-4-8` for `eu.anthropic.claude-opus-4-8`. Returns
 * undefined for the id of a model.
 */
export function modelOfProfile(id: string): string | undefined {
  return /^(?:global|us-gov|[a-z]{2,4})\.(.+)$/.exec(id)?.[1];
}
