/** `npm run readme`: writes the generated blocks of pages, and the methods and webhook types of the typed client. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import * as z from 'zod';
import { indexNames } from '../../lib/app/capability.ts';
import type { Source } from '../../lib/app/worker.ts';
import { deliveryMetrics } from '../../lib/observability/deliveryMetrics.ts';
import { errorCatalogue } from '../../lib/shared/errors.ts';
import { lazy } from '../../lib/shared/lazy.ts';
import { entities, type Entity } from '../../lib/table/entity.ts';
import { type QueueDeclaration, queues } from '../../lib/workers/queues.ts';
import { projectDir } from '../build/build.ts';
import { clientMethods, clientMethodsFile } from '../build/client.ts';
import { clientWebhooks, clientWebhooksFile } from '../build/clientWebhooks.ts';
import { thirdPartyNotices } from '../build/notices.ts';
import { refusedFields } from '../build/refusals.ts';
import { registeredWorkers } from '../build/registry.ts';
import { readSettings, settingMeaning, settingNames, settingValues } from '../settings/settings.ts';
import { frequentCosts } from './cost/frequentCosts.ts';
import { defaultWorkload, simulatedComponents, simulatedLoads } from './simulate.ts';

type AnyEntity = Entity<never, never, never>;

// A module registers its entities when it is imported.
for (const file of globSync('lib/**/*.ts', { cwd: projectDir })) {
  if (readFileSync(join(projectDir, file), 'utf8').includes('defineEntity(')) await import(`../../${file}`);
}

const workload = lazy(defaultWorkload);

export const generatedTables: Readonly<Record<string, () => string>> = {
  errors: () =>
    table(
      ['Status', 'HTTP', 'Send again?', 'Meaning'],
      Object.entries(errorCatalogue).map(([status, { http, retryable, meaning }]) => [
        code(status),
        String(http),
        retryable ? 'yes' : 'no',
        meaning,
      ]),
    ),
  entities: () =>
    table(
      ['Type', 'Version', 'Scope', 'Partition key', 'Sort key', 'Owned by', 'Purpose'],
      everyEntity().map((entity) => {
        const { PK, SK } = keyPattern(entity, (parts) => entity.key(parts));
        return [entity.type, String(entity.version), entity.scope, code(PK), code(SK), entity.ownedBy, entity.purpose];
      }),
    ),
  indexes: () =>
    table(
      ['Index', 'Type', 'Partition key', 'Sort key', 'Holds'],
      indexNames.flatMap((name) =>
        everyEntity().flatMap((entity) => {
          const index = entity.definition.indexes?.[name];
          if (!index) return [];
          const item = keyPattern(entity, (parts) => entity.toItem(parts));
          return [[name, entity.type, code(item[`${name}pk`]), code(item[`${name}sk`]), index.holds]];
        }),
      ),
    ),
  workers: () =>
    table(
      ['Worker', 'Runs', 'What it does'],
      registeredWorkers()
        .toSorted(by(({ name }) => name))
        .map(({ name, on, summary }) => [name, triggerOf(on), summary]),
    ),
  queues: () =>
    table(
      ['Queue', 'Carries', 'Messages per run', 'Runs at a time', 'Late after'],
      Object.entries<QueueDeclaration>(queues).map(
        ([name, { purpose, batchSize, maxConcurrency, lateAfterSeconds }]) => [
          name,
          purpose,
          String(batchSize),
          String(maxConcurrency),
          lateAfterSeconds === undefined ? 'may wait' : `${lateAfterSeconds / 60} minutes`,
        ],
      ),
    ),
  refusals: () =>
    table(
      ['Endpoint', 'Field', 'Refused', 'Answer'],
      refusedFields().map(({ path, field, values, message }) => [code(path), code(field), values, message]),
    ),
  notices: thirdPartyNotices,
  openPayload: () => sample('openPayload.mjs'),
  typedClient: () => sample('typedClient.ts'),
  verifyWebhook: () => sample('verifyWebhook.mjs'),
  verifyWithLibrary: () => sample('verifyWithLibrary.mjs'),
  webhookReceiver: () => sample('webhookReceiver.mjs'),
  webhookReceiverPython: () => sample('webhook_receiver.py'),
  metrics: () =>
    table(
      ['Metric', 'Unit', 'Meaning'],
      Object.entries(deliveryMetrics).map(([name, { unit, meaning }]) => [code(name), unit, meaning]),
    ),
  simulatedLoads: () => tableOf(simulatedLoads(workload())),
  simulatedComponents: () => tableOf(simulatedComponents(workload())),
  costs: () =>
    table(
      ['A million of', 'Dollars'],
      frequentCosts().map(([subject, dollars]) => [subject, dollars.toFixed(2)]),
    ),
  settings: () => {
    const defaults = readSettings(() => undefined);
    return table(
      ['Setting', 'Default', 'Values', 'Meaning'],
      settingNames.map((name) => [
        code(name),
        defaults[name] === undefined ? 'none' : code(defaults[name]),
        settingValues(name) ?? '',
        settingMeaning(name),
      ]),
    );
  },
};

export function withGeneratedTables(page: string): string {
  return page.replace(
    /(<!-- generated:(\w+) -->\n)[^]*?(<!-- \/generated:\2 -->)/g,
    (_all, start: string, name: string, end: string) => {
      const make = generatedTables[name];
      if (!make)
        throw new Error(`There is no generated block named ${name}, only ${Object.keys(generatedTables).join(', ')}`);
      return `${start}\n${make()}\n\n${end}`;
    },
  );
}

export function pages(): { readonly file: string; readonly text: string }[] {
  return globSync(['*.md', '.github/*.md', '{functions,lib,infra,test}/**/*.md'], { cwd: projectDir })
    .sort()
    .map((file) => ({ file, text: readFileSync(join(projectDir, file), 'utf8') }));
}

function sample(file: string): string {
  const language = { '.ts': 'ts', '.py': 'python' }[extname(file)] ?? 'js';
  return `\`\`\`${language}\n${readFileSync(join(projectDir, 'test/samples', file), 'utf8').trim()}\n\`\`\``;
}

function triggerOf(on: Source): string {
  if ('queue' in on) return `for messages of ${on.queue}`;
  if ('inserts' in on) return `for new items: ${on.inserts.join(', ')}`;
  if ('changes' in on) return `for changed items: ${on.changes.join(', ')}`;
  return 'every' in on ? `every ${on.every}` : 'for each connect, subscribe and publish of a user';
}

function tableOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  return table(head, rows);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(value: unknown): string {
  return `\`${String(value)}\``;
}

function by<T>(key: (value: T) => string): (a: T, b: T) => number {
  return (a, b) => (key(a) < key(b) ? -1 : 1);
}

function everyEntity(): AnyEntity[] {
  return entities().toSorted(by(({ type }) => type));
}

/** Returns a time after the year 2199, which no other part of a key contains. It stands for a numeric attribute. */
const timeOf = (attribute: number) => Date.UTC(2200, attribute, 15, 12, 34, 56);

/**
 * Returns what `make` returns for placeholders such as `<name>`. A function that builds keys may format a number as a
 * date, so it gets a time for each number. The placeholder then replaces this time. Includes keys that exist only with
 * optional attributes.
 */
function keyPattern({ definition }: AnyEntity, make: (parts: never) => object): Record<string, unknown> {
  const numbers: [string, number][] = [];
  const parts = (optionals: boolean) => placeholders(definition.schema, optionals, numbers) as never;
  const values = { ...make(parts(false)), ...make(parts(true)) };
  return Object.fromEntries(
    Object.entries(values).map(([name, key]) => [name, typeof key === 'string' ? replaceTimes(key, numbers) : key]),
  );
}

function placeholders(schema: z.ZodObject, optionals: boolean, numbers: [string, number][]): object {
  const values = new Map<string | symbol, unknown>(
    Object.entries(schema.shape).map(([name, field]) => [
      name,
      placeholder(name, field as z.core.$ZodType, optionals, numbers),
    ]),
  );
  return new Proxy({}, { get: (_target, name) => (values.has(name) ? values.get(name) : `<${String(name)}>`) });
}

function placeholder(name: string, field: z.core.$ZodType, optionals: boolean, numbers: [string, number][]): unknown {
  if (field instanceof z.ZodOptional)
    return optionals ? placeholder(name, field.unwrap(), optionals, numbers) : undefined;
  if (field instanceof z.ZodObject) return placeholders(field, optionals, numbers);
  if (!(field instanceof z.ZodNumber)) return `<${name}>`;
  const value = timeOf(numbers.length);
  numbers.push([name, value]);
  return value;
}

function replaceTimes(key: string, numbers: readonly (readonly [string, number])[]): string {
  return numbers.reduce((text, [name, value]) => {
    const iso = new Date(value).toISOString();
    return text
      .replaceAll(iso, `<${name}>`)
      .replaceAll(iso.slice(0, 10), `<day of ${name}>`)
      .replaceAll(iso.slice(0, 7), `<month of ${name}>`)
      .replaceAll(String(value), `<${name}>`);
  }, key);
}

if (import.meta.main) {
  for (const { file, text } of pages()) writeFileSync(join(projectDir, file), withGeneratedTables(text));
  writeFileSync(join(projectDir, clientMethodsFile), clientMethods());
  writeFileSync(join(projectDir, clientWebhooksFile), clientWebhooks());
}
