import type { Endpoint, Log } from '../app/endpoint.ts';
import { outputTrimmer, type Trim } from './outputTrimmer.ts';
import * as logMessages from '../observability/logMessages.ts';

/** The most names of dropped fields in a log line. */
const NAMES_LOGGED = 20;

type OutputDeclaration = Pick<Endpoint, 'path' | 'output'>;

const trimmers = new WeakMap<OutputDeclaration, Trim>();

/**
 * Returns an answer with the fields that the endpoint declares, and logs the names of the fields that it drops. `isStrict` is for tests and the local run:
 * it throws when an answer has an undeclared field or does not match the declared types.
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
  const dropped = [...names].slice(0, NAMES_LOGGED);
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
  if (problems.length > 0) throw new Error(`${path} answers what its output does not declare: ${problems.join('; ')}`);
}
