import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Urls } from '../iam/identity.ts';
import { StartError } from '../startError.ts';
import { type Resource, Stack } from './template.ts';

/** The resources of a stack and of its nested stacks, and the location of their assets. */
export interface Assembly {
  readonly resources: readonly Resource[];
  /** Returns the file or folder of an asset by its object key. */
  asset(objectKey: string): string;
}

/** Reads the output of `cdk synth`: one stack, with nested stacks as assets. */
export function loadAssembly(dir: string, urls: Urls): Assembly {
  const manifest = readJson<{ artifacts: Record<string, { type: string; properties: { templateFile: string } }> }>(
    join(dir, 'manifest.json'),
  );
  const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  const [stack] = stacks;
  if (!stack || stacks.length > 1) throw new StartError(`${dir} must hold one stack, but holds ${stacks.length}.`);
  const [name, { properties }] = stack;
  const asset = assetsOf(dir, name);
  const root = new Stack(name, '', readJson(join(dir, properties.templateFile)), () => undefined, {
    urls,
    nestedTemplate: (objectKey) => readJson(asset(objectKey)),
  });
  return { resources: root.resources(), asset };
}

function assetsOf(dir: string, stack: string): Assembly['asset'] {
  const { files } = readJson<{
    files: Record<string, { source: { path: string }; destinations: Record<string, { objectKey: string }> }>;
  }>(join(dir, `${stack}.assets.json`));
  const paths = new Map(
    Object.values(files).flatMap(({ source, destinations }) =>
      Object.values(destinations).map(({ objectKey }) => [objectKey, source.path]),
    ),
  );
  return (objectKey) => {
    const path = paths.get(objectKey);
    if (path === undefined) throw new StartError(`${dir} has no asset ${objectKey}.`);
    return join(dir, path);
  };
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
