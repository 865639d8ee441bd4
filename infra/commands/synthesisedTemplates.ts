import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STACK } from '../settings/settings.ts';
import type { DeployedResource, StackTemplates } from './templateChanges.ts';

export type Template = {
  readonly Resources: Readonly<
    Record<string, DeployedResource & { readonly Metadata?: Readonly<Record<string, unknown>> }>
  >;
};

export async function synthesisedTemplates(dir: string): Promise<StackTemplates> {
  const read = async (file: string) =>
    JSON.parse(
      await readFile(join(dir, file), 'utf8').catch(() => {
        throw new Error(`${join(dir, file)} does not exist. Is ${dir} an output folder of cdk synth?`);
      }),
    ) as Template;
  const load = async (file: string): Promise<StackTemplates> => {
    const { Resources: resources } = await read(file);
    const nested = await Promise.all(
      nestedIn(resources).map(async (id) => {
        const path = resources[id]?.Metadata?.['aws:asset:path'];
        if (typeof path !== 'string')
          throw new Error(`${join(dir, file)} has no path for the template of the nested stack ${id}.`);
        return [id, await load(path)] as const;
      }),
    );
    return { resources, nested: new Map(nested) };
  };
  return load(`${STACK}.template.json`);
}

export function nestedIn(resources: Template['Resources']): string[] {
  return Object.entries(resources)
    .filter(([, { Type }]) => Type === 'AWS::CloudFormation::Stack')
    .map(([id]) => id);
}
