import type { DeployedResource, StackTemplates } from '../../infra/commands/templateChanges.ts';

/**
 * Returns how many resources of matching types CloudFormation may work on at the same time in a first deployment. Nested
 * stacks that may be deployed at the same time count together.
 */
export function mostAtOnce(templates: StackTemplates, types: RegExp): number {
  const before = new Map<string, ReadonlySet<string>>();
  addStack(templates, { path: '', types, start: new Set(), before });
  return widthOf(before);
}

interface Walk {
  readonly path: string;
  readonly types: RegExp;
  /** The matching resources that are complete before the stack starts. */
  readonly start: ReadonlySet<string>;
  /** For each matching resource, the matching resources that are complete before it starts. */
  readonly before: Map<string, ReadonlySet<string>>;
}

/** Adds the resources of a stack, and returns those that are complete when the stack is complete. */
function addStack({ resources, nested }: StackTemplates, walk: Walk): Set<string> {
  const completeWith = new Map<string, Set<string>>();
  const complete = (id: string): Set<string> => {
    const known = completeWith.get(id);
    if (known) return known;
    const resource = resources[id]!;
    const start = new Set(walk.start);
    for (const other of dependenciesOf(resource))
      if (other in resources) for (const done of complete(other)) start.add(done);
    const path = walk.path + id;
    const inner = nested.get(id);
    const done = inner ? addStack(inner, { ...walk, path: `${path}/`, start }) : new Set(start);
    if (walk.types.test(resource.Type)) {
      walk.before.set(path, start);
      done.add(path);
    }
    completeWith.set(id, done);
    return done;
  };
  return new Set([...walk.start, ...Object.keys(resources).flatMap((id) => [...complete(id)])]);
}

/** Returns the logical ids and parameters for which CloudFormation waits before it creates a resource. */
function dependenciesOf(resource: DeployedResource): string[] {
  const { DependsOn = [] } = resource as { DependsOn?: string | string[] };
  return [...[DependsOn].flat(), ...referencesIn(resource.Properties)];
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Object.entries(value).flatMap(([name, argument]): string[] => {
    if (name === 'Ref') return [String(argument)];
    if (name === 'Fn::GetAtt') return [String([argument].flat()[0]).split('.')[0]!];
    if (name !== 'Fn::Sub') return [];
    return [...String([argument].flat()[0]).matchAll(/\$\{(\w+)/g)].map(([, id]) => id!);
  });
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

/**
 * Returns the size of the largest set of resources none of which waits for another one. By Dilworth's theorem this is the
 * smallest number of chains that hold all resources: their number without the pairs of a maximum matching.
 */
function widthOf(before: ReadonlyMap<string, ReadonlySet<string>>): number {
  const nextOf = new Map<string, string>();
  const findPrevious = (id: string, tried: Set<string>): boolean => {
    for (const previous of before.get(id)!) {
      if (tried.has(previous)) continue;
      tried.add(previous);
      const next = nextOf.get(previous);
      if (next === undefined || findPrevious(next, tried)) {
        nextOf.set(previous, id);
        return true;
      }
    }
    return false;
  };
  return [...before.keys()].filter((id) => !findPrevious(id, new Set())).length;
}
