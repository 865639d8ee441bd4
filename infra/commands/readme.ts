/** `npm run readme`: writes the tables of the pages that are generated from the code, and the client's methods. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { indexNames } from '../../lib/app/capability.ts';
import { entities, type Entity } from '../../lib/table/entity.ts';
import { errorCatalogue } from '../../lib/shared/errors.ts';
import { deliveryMetrics } from '../../lib/observability/deliveryMetrics.ts';
import { type QueueDeclaration, queues } from '../../lib/workers/queues.ts';
import type { Source } from '../../lib/app/worker.ts';
import { projectDir } from '../build/build.ts';
import { clientMethods, clientMethodsFile } from '../build/client.ts';
import { readSettings, settingMeaning, settingNames, settingValues } from '../stacks/settings.ts';
import { registeredWorkers } from '../build/registry.ts';

type AnyEntity = Entity<never, never, never>;

// An entity is known once its module has been imported.
for (const file of globSync('lib/**/*.ts', { cwd: projectDir })) {
  if (readFileSync(join(projectDir, file), 'utf8').includes('defineEntity(')) await import(`../../${file}`);
}

/** The generated tables, by the name in their markers. */
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
        .map(({ name, on, summary }) => [name, occasionOf(on), summary]),
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
  openPayload: () => sample('openPayload.mjs'),
  typedClient: () => sample('typedClient.ts'),
  verifyWebhook: () => sample('verifyWebhook.mjs'),
  verifyWithLibrary: () => sample('verifyWithLibrary.mjs'),
  metrics: () =>
    table(
      ['Metric', 'Unit', 'Meaning'],
      Object.entries(deliveryMetrics).map(([name, { unit, meaning }]) => [code(name), unit, meaning]),
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

/** Returns a page with its generated blocks (`<!-- generated:NAME -->` to `<!-- /generated:NAME -->`) written again. */
export function withGeneratedTables(page: string): string {
  return page.replace(
    /(<!-- generated:(\w+) -->\n)[^]*?(<!-- \/generated:\2 -->)/g,
    (_all, start: string, name: string, end: string) => {
      const make = generatedTables[name];
      if (!make)
        throw new Error(`There is no generated table named ${name}, only ${Object.keys(generatedTables).join(', ')}`);
      return `${start}\n${make()}\n\n${end}`;
    },
  );
}

/** Returns every page of the project, with its path from the root. */
export function pages(): { readonly file: string; readonly text: string }[] {
  return globSync(['*.md', '{functions,lib,infra,test}/**/*.md'], { cwd: projectDir })
    .sort()
    .map((file) => ({ file, text: readFileSync(join(projectDir, file), 'utf8') }));
}

/** A sample for customers, which the tests run as it stands. */
function sample(file: string): string {
  const language = file.endsWith('.ts') ? 'ts' : 'js';
  return `\`\`\`${language}\n${readFileSync(join(projectDir, 'test/samples', file), 'utf8').trim()}\n\`\`\``;
}

/** When a worker runs. */
function occasionOf(on: Source): string {
  if ('queue' in on) return `for messages of ${on.queue}`;
  return 'inserts' in on ? `for new items: ${on.inserts.join(', ')}` : `every ${on.every}`;
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

/** So far in the future that no key has such a time for another reason; each attribute gets a month of its own. */
const timeOf = (attribute: number) => Date.UTC(2200, attribute, 15, 12, 34, 56);

/**
 * What an entity makes of placeholders: `<name>` for each part that it asks for. Where its schema says that the part is a
 * number, which keys may compute with, it gets a number and the placeholder takes its place in the result. What only items without
 * some optional attribute have is made of placeholders without these.
 */
function keyPattern<T extends object>({ definition }: AnyEntity, make: (parts: never) => T): Record<string, unknown> {
  const numbers: [string, number][] = [];
  const parts = (optionals: boolean) => placeholders(definition.schema, optionals, numbers) as never;
  const made = { ...make(parts(false)), ...make(parts(true)) };
  return Object.fromEntries(
    Object.entries(made).map(([name, key]) => [name, typeof key === 'string' ? named(key, numbers) : key]),
  );
}

/** An object that has a placeholder under every name, but, unless `optionals`, nothing under those that its schema calls optional. */
function placeholders(schema: z.ZodObject, optionals: boolean, numbers: [string, number][]): object {
  const made = new Map<string | symbol, unknown>(
    Object.entries(schema.shape).map(([name, field]) => [
      name,
      placeholder(name, field as z.core.$ZodType, optionals, numbers),
    ]),
  );
  return new Proxy({}, { get: (_target, name) => (made.has(name) ? made.get(name) : `<${String(name)}>`) });
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

function named(key: string, numbers: readonly (readonly [string, number])[]): string {
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
}
