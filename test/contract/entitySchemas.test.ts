import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { projectDir } from '../../infra/build/build.ts';
import { entities } from '../../lib/table/entity.ts';

/** The file with the version and the schema hash of each entity type. */
const file = join(import.meta.dirname, 'entitySchemas.json');
const pinned = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Pin>;

// The import of a module registers its entities.
for (const source of globSync('lib/**/*.ts', { cwd: projectDir })) {
  if (readFileSync(join(projectDir, source), 'utf8').includes('defineEntity(')) await import(join(projectDir, source));
}

function hashOf(schema: z.ZodObject): string {
  const shape = JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }));
  return createHash('sha256').update(shape).digest('hex').slice(0, 16);
}

interface Pin {
  readonly version: number;
  readonly hash: string;
}

const current: Record<string, Pin> = Object.fromEntries(
  entities()
    .toSorted((a, b) => (a.type < b.type ? -1 : 1))
    .map(({ type, version, definition }) => [type, { version, hash: hashOf(definition.schema) }]),
);

test('an entity whose schema changed has a new version', () => {
  const changed = Object.keys(pinned).filter(
    (type) =>
      current[type] && current[type].version === pinned[type]!.version && current[type].hash !== pinned[type]!.hash,
  );
  expect(changed).toEqual([]);
  // To update the pins after raising a version or adding an entity: UPDATE_PINS=1 npm test -- test/contract/entitySchemas
  if (process.env.UPDATE_PINS) writeFileSync(file, `${JSON.stringify(current, undefined, 2)}\n`);
});

test('the version and schema of every entity are pinned', () => {
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(current);
});
