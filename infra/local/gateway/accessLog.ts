import type { AccessContext } from './gateway.ts';

/**
 * Returns a line of the access log. `format` has the name of each field and its variable, such as `$context.status`. As in API
 * Gateway, all values are texts, and a variable without a value is `-`.
 */
export function accessLine(format: Readonly<Record<string, string>>, context: AccessContext): string {
  const fields = Object.entries(format).map(([name, variable]) => [
    name,
    context[variable.replace(/^\$context\./, '')] ?? '-',
  ]);
  return `${JSON.stringify(Object.fromEntries(fields))}\n`;
}
