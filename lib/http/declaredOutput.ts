import type { Endpoint } from '../app/endpoint.ts';
import type { Log } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import { outputTrimmer, type Trim } from './outputTrimmer.ts';

const MAX_LOGGED_NAMES = 20;

type OutputDeclaration = Pick<Endpoint, 'path' | 'output'>;

const trimmers = new WeakMap<OutputDeclaration, Trim>();

/**
 * Returns only the fields that the endpoint declares, and logs the names of the others. If `isStrict`, as in tests and
 * the local run, throws for an undeclared field and for a wrong type.
 */
export function declaredOutput(
  endpoint: OutputDeclaration,
  output: unknown,
  { isStrict, log }: { isStrict: boolean; log: Log },
): unknown {
  const trim = trimmers.get(endpoint) ?? outputTrimmer(endpoint.output);
  trimmers.set(endpoint, trim);
  const names = new Set<string>();
  const trimmed = trim(output, names);
  const dropped = [...names].slice(0, MAX_LOGGED_NAMES);
  if (isStrict) requireDeclared(endpoint, output, dropped);
  if (dropped.length > 0) log.warn(logMessages.responseTrimmed, { path: endpoint.path, dropped });
  return trimmed;
}

function requireDeclared(
  { path, output: schema }: OutputDeclaration,
  output: unknown,
  undeclared: readonly string[],
): void {
  const mismatches = schema.safeParse(output).error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  const problems = [...undeclared.map((name) => `${name} is not declared`), ...(mismatches ?? [])];
  if (problems.length > 0)
    throw new Error(`${path} returns output that does not match its declaration: ${problems.join('; ')}`);
}
