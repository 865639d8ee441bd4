import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Urls } from '../iam/identity.ts';
import { StartError } from '../startError.ts';
import { type Resource, Stack, type Template } from './template.ts';

export interface Assembly {
  readonly resources: readonly Resource[];
  /** Returns the path of an asset. `objectKey` is its key in S3. */
  readonly asset: (objectKey: string) => string;
}

/** `dir` is an output folder of `cdk synth`, with one stack besides nested ones. */
export function loadAssembly(dir: string, urls: Urls): Assembly {
  const manifest = readJson(join(dir, 'manifest.json')) as {
    artifacts: Record<string, { type: string; properties: { templateFile: string } }>;
  };
  const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  const [stack] = stacks;
  if (!stack || stacks.length > 1)
    throw new StartError(`${dir} must contain one stack, but contains ${stacks.length}.`);
  const [name, { properties }] = stack;
  const asset = assetsOf(dir, name);
  const root = new Stack(name, '', readJson(join(dir, properties.templateFile)) as Template, () => undefined, {
    urls,
    nestedTemplate: (objectKey) => readJson(asset(objectKey)) as Template,
  });
  return { resources: root.resources(), asset };
}

function assetsOf(dir: string, stack: string): Assembly['asset'] {
  const { files } = readJson(join(dir, `${stack}.assets.json`)) as {
    files: Record<string, { source: { path: string }; destinations: Record<string, { objectKey: string }> }>;
  };
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

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
