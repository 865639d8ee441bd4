import type { AccessContext } from './gateway.ts';

/**
 * `format` has the variable of each field, such as `$context.status`. As in API Gateway, all values are texts, and a
 * missing one is `-`.
 */
export function accessLine(format: Readonly<Record<string, string>>, context: AccessContext): string {
  const fields = Object.entries(format).map(([name, variable]) => [
    name,
    context[variable.replace(/^\$context\./, '')] ?? '-',
  ]);
  return `${JSON.stringify(Object.fromEntries(fields))}\n`;
}
