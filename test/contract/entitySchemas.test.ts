import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { projectDir } from '../../infra/build/build.ts';
import { entities } from '../../lib/table/entity.ts';

/**
 * This file stores the version and a hash of the schema of each entity type. A change of a schema then fails this test
 * until its author decides about the version.
 */
const file = join(import.meta.dirname, 'entitySchemas.json');
const pinned = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Pin>;

for (const source of globSync('lib/**/*.ts', { cwd: projectDir })) {
  if (readFileSync(join(projectDir, source), 'utf8').includes('defineEntity(')) await import(join(projectDir, source));
}

function hashOf(schema: z.ZodObject): string {
  // Texts of the reference do not change what is stored.
  const override = ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => delete jsonSchema.description;
  const shape = JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input', override }));
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
  // After raising a version or adding an entity type, update the file with: UPDATE_PINS=1 npm test --
  // test/contract/entitySchemas
  if (process.env.UPDATE_PINS) writeFileSync(file, `${JSON.stringify(current, undefined, 2)}\n`);
});

test('entitySchemas.json has the current version and schema hash of every entity type', () => {
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(current);
});
