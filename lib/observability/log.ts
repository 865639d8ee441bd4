import type * as logMessages from './logMessages.ts';

type LogMessage = (typeof logMessages)[keyof typeof logMessages];

export interface Log {
  info(message: LogMessage, keys?: Record<string, unknown>): void;
  warn(message: LogMessage, keys?: Record<string, unknown>): void;
  error(message: LogMessage, keys?: Record<string, unknown>): void;
}

/** From low to high. `SILENT` turns all lines off. */
const levels = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL', 'SILENT'];
type Level = 'INFO' | 'WARN' | 'ERROR';

interface Settings {
  readonly lowest: number;
  readonly toConsole: boolean;
}

/** Read once, because each read of the environment takes time. */
let settings: Settings | undefined;

/** Adds `keys` to every line. Errors are written with stack and cause. */
export function logWith(serviceName: string, keys: Record<string, unknown>): Log {
  return new LogWithKeys(serviceName, keys);
}

/** An instance per request costs less than three closures. */
class LogWithKeys implements Log {
  readonly #service: string;
  readonly #keys: Record<string, unknown>;

  constructor(service: string, keys: Record<string, unknown>) {
    this.#service = service;
    this.#keys = keys;
  }

  info(message: string, more?: Record<string, unknown>): void {
    this.#write('INFO', message, more);
  }

  warn(message: string, more?: Record<string, unknown>): void {
    this.#write('WARN', message, more);
  }

  error(message: string, more?: Record<string, unknown>): void {
    this.#write('ERROR', message, more);
  }

  #write(level: Level, message: string, more: Record<string, unknown> | undefined): void {
    settings ??= readSettings(process.env);
    if (levels.indexOf(level) < settings.lowest) return;
    writeLine(level, settings, {
      level,
      message,
      timestamp: new Date().toISOString(),
      service: this.#service,
      xray_trace_id: traceId(process.env._X_AMZN_TRACE_ID),
      ...this.#keys,
      ...more,
    });
  }
}

function readSettings({ AWS_LAMBDA_LOG_LEVEL, POWERTOOLS_LOG_LEVEL, POWERTOOLS_DEV }: NodeJS.ProcessEnv): Settings {
  const level = levels.indexOf((AWS_LAMBDA_LOG_LEVEL ?? POWERTOOLS_LOG_LEVEL ?? '').toUpperCase());
  return { lowest: level < 0 ? levels.indexOf('INFO') : level, toConsole: POWERTOOLS_DEV === 'true' };
}

/** From a header such as `Root=1-5759e988;Sampled=0`. */
function traceId(header: string | undefined): string | undefined {
  return header && /(?:^|;)Root=([^;]+)/.exec(header)?.[1];
}

const consoleMethods = { INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Lambda's `console` would write the request id before the line. Tests set `POWERTOOLS_DEV` to write to it. */
function writeLine(level: Level, { toConsole }: Settings, fields: Record<string, unknown>): void {
  const line = toLine(fields);
  if (toConsole) console[consoleMethods[level]](line);
  else (level === 'INFO' ? process.stdout : process.stderr).write(`${line}\n`);
}

/** JSON writes lines without objects and bigints four times faster without a replacer. */
function toLine(fields: Record<string, unknown>): string {
  for (const name in fields) {
    const value = fields[name];
    if ((typeof value === 'object' && value !== null) || typeof value === 'bigint')
      return JSON.stringify(fields, replaceErrors());
  }
  return JSON.stringify(fields);
}

/** Writes errors as objects and bigints as texts, and leaves out objects that contain themselves. */
function replaceErrors(): (this: unknown, name: string, value: unknown) => unknown {
  // The objects that contain the current value, outermost first. For an error, `written` differs from `value`.
  const ancestors: { readonly value: object; readonly written: object }[] = [];
  return function (_name, value) {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    while (ancestors.length > 0 && ancestors.at(-1)?.written !== this) ancestors.pop();
    if (ancestors.some((ancestor) => ancestor.value === value)) return undefined;
    const written = value instanceof Error ? fieldsOf(value) : value;
    ancestors.push({ value, written });
    return written;
  };
}

function fieldsOf(error: Error): object {
  const { name, message, stack, cause } = error;
  return Object.assign(Object.fromEntries(Object.entries(error)), { name, message, stack, cause });
}
