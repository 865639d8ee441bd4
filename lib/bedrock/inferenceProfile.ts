/**
 * Returns `anthropic.claude-opus-4-8` for `eu.anthropic.claude-opus-4-8`, and undefined for the id of a model of
 * Anthropic or Amazon.
 */
export function modelOfProfile(id: string): string | undefined {
  return /^(?:global|us-gov|[a-z]{2,4})\.(.+)$/.exec(id)?.[1];
}
