import { namedUnitProblems } from '../settings/namedUnits.ts';
import { readSettings, settingsError } from '../settings/settings.ts';

/**
 * Throws an error that lists the problems of the settings. Does not load the CDK. Loads declarations of functions only
 * for a setting that names families or workers.
 */
export async function requireValidSettings(
  context: Readonly<Record<string, unknown>>,
  region: string | undefined,
): Promise<void> {
  const settings = readSettings((name) => context[name], Object.keys(context), region);
  if (settings.warmFamilies === '' && settings.reservedConcurrency === undefined) return;
  const { registeredRoutes, registeredWorkers } = await import('./registry.ts');
  const problems = namedUnitProblems(settings, registeredRoutes(), registeredWorkers());
  if (problems.length > 0) throw settingsError(problems);
}

export function contextFromCli({ CDK_CONTEXT_JSON }: NodeJS.ProcessEnv): Record<string, unknown> {
  return JSON.parse(CDK_CONTEXT_JSON || '{}') as Record<string, unknown>;
}

/** Reads options such as `-c name=value` of the CDK CLI. */
export function contextFromArguments(args: readonly string[]): Record<string, string> {
  const pairs = args.flatMap((arg, index) => {
    if (arg === '-c' || arg === '--context') return [args[index + 1] ?? ''];
    const [, joined] = /^(?:-c|--context=)(.+)$/s.exec(arg) ?? [];
    return joined === undefined ? [] : [joined];
  });
  return Object.fromEntries(
    pairs
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}
